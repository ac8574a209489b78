/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// EngineCompanion describes stateless pods between clients and the database, such as a connection pooler. A DatabaseCompanion with its
// name in spec.companion runs them beside a cluster of the engine.
type EngineCompanion struct {
	// name is the name in spec.companion of a DatabaseCompanion.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="spec.companions[].name must start with a lowercase letter and have lowercase letters, digits and '-' only"
	Name string `json:"name"`

	// description is one sentence about the companion. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// image is the image of companions that do not set spec.image.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",message="spec.companions[].image must not contain spaces"
	Image string `json:"image"`

	// command replaces the image's entrypoint. Default: the image's entrypoint.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// scripts are the names of the scripts in spec.scripts that the companion finds in /dbc/scripts. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=48
	Scripts []string `json:"scripts,omitempty"`

	// port is the TCP port on which the companion listens, 1 to 65535. Its Service has the same one, unless the DatabaseCompanion sets
	// another. Scripts find it in DBC_LISTEN_PORT.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port"`

	// runAsUser is the user ID of the companion, not 0. Default: the image's user.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// terminationGracePeriodSeconds is the time that a pod has to stop before the kubelet kills it, in seconds, 0 to 86400. Default: 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	MemberProbes `json:",inline"`

	// secretKeys are the keys of the cluster's credentials that the companion finds as files in /dbc/secrets. It gets no others. The
	// kubelet replaces the files when a key changes. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	SecretKeys []string `json:"secretKeys,omitempty"`

	// parameters are the settings that a DatabaseCompanion can set in spec.parameters. A change restarts its pods, one after another.
	// Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Parameters []EngineCompanionParameter `json:"parameters,omitempty"`

	// pause is Supported if the scripts of the engine can pause the clients of the companion while the primary changes. The variable
	// DBC_COMPANIONS_HOST of actions is then a name with the addresses of its pods. Default: Unsupported.
	// +optional
	// +kubebuilder:validation:Enum=Supported;Unsupported
	Pause EnginePause `json:"pause,omitempty"`
}

// EnginePause is whether the clients of a companion can be paused.
type EnginePause string

// Whether the clients of a companion can be paused.
const (
	// PauseSupported means that scripts of the engine can do that.
	PauseSupported EnginePause = "Supported"
	// PauseUnsupported means that they cannot.
	PauseUnsupported EnginePause = "Unsupported"
)

// EngineCompanionParameter is a setting of a companion. Its pods have it as an environment variable. Its name is DBC_PARAM_ and the name in
// upper case, with '_' in place of all but letters and digits.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pattern) || !has(self.enum)",message="spec.companions[].parameters[]: set pattern or enum, not both"
type EngineCompanionParameter struct {
	// name is the name of the parameter in spec.parameters of a DatabaseCompanion.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-_.a-z0-9]*[a-z0-9])?$')",message="the name of a parameter must start with a lowercase letter and have lowercase letters, digits, '-', '_' and '.' only"
	Name string `json:"name"`

	// description is one sentence about the parameter. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// default is the value in companions that do not set the parameter. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Default string `json:"default,omitempty"`

	// pattern is a regular expression (RE2) that the whole value must match. The default needs not. Default: any value.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Pattern string `json:"pattern,omitempty"`

	// enum are the allowed values. Default: any value.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Enum []string `json:"enum,omitempty"`
}
