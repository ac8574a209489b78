/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineParameter is a setting that clusters can set in spec.parameters. Members and actions have it as an environment
// variable. Its name is DBC_PARAM_ and the name in upper case, with '_' in place of all but letters and digits.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pattern) || !has(self.enum)",message="spec.parameters[]: set pattern or enum, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.pattern) || 'x'.matches('^(?:' + self.pattern + ')$') in [true, false]",message="spec.parameters[].pattern must be a regular expression (RE2)"
// +kubebuilder:validation:XValidation:rule="!has(self.default) || self.default.size() == 0 || (!has(self.pattern) || self.default.matches('^(?:' + self.pattern + ')$')) && (!has(self.enum) || self.default in self.enum)",message="spec.parameters[].default must match pattern or enum, or be empty"
// +kubebuilder:validation:XValidation:rule="!has(self.preview) || self.preview.size() == 0 || (!has(self.pattern) || self.preview.matches('^(?:' + self.pattern + ')$')) && (!has(self.enum) || self.preview in self.enum)",message="spec.parameters[].preview must match pattern or enum, or be empty"
type EngineParameter struct {
	// name is the name of the parameter in spec.parameters of a cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-_.a-z0-9]*[a-z0-9])?$')",message="the name of a parameter must start with a lowercase letter and have lowercase letters, digits, '-', '_' and '.' only"
	Name string `json:"name"`

	// description is one sentence about the parameter. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// default is the value in clusters that do not set the parameter. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Default string `json:"default,omitempty"`

	// pattern is a regular expression (RE2) that the whole value must match. Default: any value.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Pattern string `json:"pattern,omitempty"`

	// enum are the allowed values. Default: any value.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Enum []string `json:"enum,omitempty"`

	// preview is the value in previews of a DatabaseRestore, in place of the value of the cluster. It can keep clients from
	// changing the data by mistake. Default: the value of the cluster.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Preview string `json:"preview,omitempty"`

	// storage relates a parameter that is a size, such as 1GB, to the size of the data volume. Default: no relation.
	// +optional
	Storage *EngineParameterStorage `json:"storage,omitempty"`
}

// EngineParameterStorage relates a parameter to the size of the data volume. The value of the parameter is a number of bytes, or a number
// with the unit kB, MB, GB or TB of 1024 each.
type EngineParameterStorage struct {
	// defaultPercent is the highest default as a part of the smallest data volume, in percent, 1 to 100. The default follows the
	// volume when it grows. It needs the action configure, which puts the new value in force. Default: the default does not
	// depend on the volume.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	DefaultPercent int32 `json:"defaultPercent,omitempty"`

	// maxPercent is the highest value that a cluster can set, as a part of spec.storage.size, in percent, 1 to 100. The operator
	// refuses higher values with Stalled. Default: 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	MaxPercent int32 `json:"maxPercent,omitempty"`
}
