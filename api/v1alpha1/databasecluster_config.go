/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// ClusterConfig are configuration files. The operator stores them in a ConfigMap, so all files together have at most 1 MiB.
type ClusterConfig struct {
	// mountPath is the absolute path of the directory at which the files are mounted, read-only. The mount hides
	// the image's content of that directory. Default: /etc/database.
	// +optional
	// +kubebuilder:default="/etc/database"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="spec.config.mountPath must be an absolute path without ':' or '..'"
	MountPath string `json:"mountPath,omitempty"`

	// files are the contents of the files by file name, for example "postgresql.conf".
	// +required
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.size() <= 253 && name.matches('^[-._a-zA-Z0-9]+$') && name != '.' && !name.startsWith('..'))",message="spec.config.files must have names of letters, digits, '-', '_' and '.' that do not begin with '..', at most 253 characters long"
	Files map[string]string `json:"files"`
}

// ClusterConfigurationStatus is what the action configure has put in force.
type ClusterConfigurationStatus struct {
	// state is Applying while the action may change the configuration, and InForce after it has succeeded.
	// +required
	// +kubebuilder:validation:Enum=Applying;InForce
	State ClusterConfigurationState `json:"state"`

	// hash identifies the engine, the parameters, the number of members and the passwords.
	// +required
	// +kubebuilder:validation:MaxLength=64
	Hash string `json:"hash"`

	// lockSeconds is the longest lifetime of the lock of a primary that members may use, in seconds. It is empty if the engine has no
	// parameter for it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	LockSeconds int32 `json:"lockSeconds,omitempty"`

	// membersHash is a hash of the configuration as the members keep it, after the action has succeeded. If theirs has another hash
	// later, another client has changed it. It is empty if the engine does not declare spec.state.configuration.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	MembersHash string `json:"membersHash,omitempty"`

	// changedHash identifies the last change of the members' configuration by another client, or a write that may be one. The action
	// runs again for each of them.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ChangedHash string `json:"changedHash,omitempty"`
}

// ClusterConfigurationState is the state of a configuration.
type ClusterConfigurationState string

// States of a configuration.
const (
	// ConfigurationApplying: the members may use this configuration or the previous one.
	ConfigurationApplying ClusterConfigurationState = "Applying"
	// ConfigurationInForce: the database has accepted the configuration.
	ConfigurationInForce ClusterConfigurationState = "InForce"
)
