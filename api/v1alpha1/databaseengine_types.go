/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseEngine declares how a kind of database is run: its container, its scripts, its parameters, and the
// actions by which the operator asks something of it. Clusters name one in spec.engine. It never changes: a
// new version is a new DatabaseEngine, by convention with the version at the end of its name, such as
// postgresql-single-v1.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=dbe,categories=databases
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="Whether clusters can be run by it"
// +kubebuilder:printcolumn:name="Topology",type=string,JSONPath=`.spec.topology`
// +kubebuilder:printcolumn:name="Description",type=string,JSONPath=`.spec.description`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 63",message="metadata.name must be at most 63 characters long"
// +operator-sdk:csv:customresourcedefinitions:displayName="Database Engine",order=3,resources={{DatabaseCluster,v1alpha1,""}}
type DatabaseEngine struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the declaration. It cannot be changed.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec cannot be changed: create a DatabaseEngine of another name, such as the next version, and name it in the clusters' spec.engine"
	Spec DatabaseEngineSpec `json:"spec"`

	// status says whether clusters can be run by the engine. None is set while no operator has looked at it.
	// +optional
	Status DatabaseEngineStatus `json:"status,omitzero"`
}

// DatabaseEngineList is a list of DatabaseEngines.
//
// +kubebuilder:object:root=true
type DatabaseEngineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DatabaseEngine `json:"items"`
}

// Topology is how the members of a cluster are related.
type Topology string

const (
	// TopologyIndependent says that no member knows of another: each has data of its own.
	TopologyIndependent Topology = "Independent"
)

// DatabaseEngineSpec declares how a kind of database is run.
type DatabaseEngineSpec struct {
	// description says in a sentence what the engine is, for people.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// topology is how the members are related. Independent: each has data of its own.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:Enum=Independent
	Topology Topology `json:"topology"`

	// container is how the database runs in the cluster's image. What the cluster's spec says itself wins.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Container EngineContainer `json:"container,omitzero"`

	// scripts are executable files that members and actions find in /dbc/scripts, by name; 65536 characters
	// at most in all.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]{0,46}[A-Za-z0-9])?$'))",message="spec.scripts: a name must have 1 to 48 letters, digits, '-', '_' or '.', and begin and end with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.map(name, self[name].size()).sum() <= 65536",message="spec.scripts must have at most 65536 characters in all, because pods carry them as annotations"
	Scripts map[string]EngineScript `json:"scripts,omitempty"`

	// parameters are what clusters can set in spec.parameters.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.name.replace('-', '_').replace('.', '_') == p.name.replace('-', '_').replace('.', '_')))",message="spec.parameters: two names that differ only in '-', '_' and '.' would be the same environment variable"
	Parameters []EngineParameter `json:"parameters,omitempty"`

	// secretKeys are the keys that the Secret in a cluster's spec.secretName must have. Members and actions
	// find each as a file in /dbc/secrets.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^[-._a-zA-Z0-9]+$`
	SecretKeys []string `json:"secretKeys,omitempty"`

	// actions are what the operator can ask of the database.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Actions EngineActions `json:"actions,omitzero"`
}

// DatabaseEngineStatus says whether clusters can be run by an engine.
type DatabaseEngineStatus struct {
	// conditions say how the engine is. Accepted is True when the operator can run clusters by it; where it is
	// False, its message says what is wrong with the declaration, and what to do.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation that the conditions are about.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// EngineScript is the text of a script.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=65536
type EngineScript string

// EngineContainer is how the database runs in the cluster's image.
type EngineContainer struct {
	// command replaces the image's entrypoint.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// args replace the image's arguments. "$(DBC_PARAM_NAME)" stands for the value of a parameter. They do not
	// apply to a cluster with a command of its own.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=65536
	Args []string `json:"args,omitempty"`

	// env are environment variables of members and actions. Those of the cluster's spec win. A value can refer to
	// DBC_PORT, DBC_DATA_DIR, DBC_SECRETS_DIR and DBC_PARAM_..., as "$(DBC_PORT)".
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []EngineVariable `json:"env,omitempty"`

	// port is the TCP port on which the database listens, 1 to 65535. Default: 9000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// dataPath is where a member finds its data volume. Default: /var/lib/database.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="spec.container.dataPath must be an absolute path without ':' or '..'"
	DataPath string `json:"dataPath,omitempty"`

	// runAsUser is the user ID of the database, not 0. Default: the image's.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// terminationGracePeriodSeconds is how long a member may take to stop before it is killed, in seconds,
	// 0 to 86400. Default: 120.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// probes tell Kubernetes when a member has started, is ready, is alive.
	// +optional
	Probes Probes `json:"probes,omitzero"`
}

// EngineVariable is an environment variable.
type EngineVariable struct {
	// name is the name of the variable. Names that start with "DBC_" are the operator's.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$') && !self.startsWith('DBC_')",message="spec.container.env[].name must have letters, digits and '_' only, must not begin with a digit, nor with 'DBC_', which is the operator's"
	Name string `json:"name"`

	// value is what the variable is set to. "$(NAME)" stands for the value of another one.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Value string `json:"value,omitempty"`
}

// EngineParameter is what clusters can set in spec.parameters. Members and actions find it in the environment
// as DBC_PARAM_ and the name in upper case, with '_' for every other character than a letter or digit.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pattern) || !has(self.enum)",message="spec.parameters[]: give pattern or enum, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.pattern) || 'x'.matches('^(?:' + self.pattern + ')$') in [true, false]",message="spec.parameters[].pattern must be a regular expression (RE2)"
// +kubebuilder:validation:XValidation:rule="!has(self.default) || self.default.size() == 0 || (!has(self.pattern) || self.default.matches('^(?:' + self.pattern + ')$')) && (!has(self.enum) || self.default in self.enum)",message="spec.parameters[].default must be a value that pattern or enum takes, or empty"
type EngineParameter struct {
	// name is what clusters call the parameter in spec.parameters.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-_.a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// description says what it does, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// default is the value where a cluster sets none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Default string `json:"default,omitempty"`

	// pattern is a regular expression (RE2) that a value must match as a whole. Default: anything.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Pattern string `json:"pattern,omitempty"`

	// enum are the values to choose from. Default: anything.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Enum []string `json:"enum,omitempty"`
}

// EngineActions are what the operator can ask of the database. One that is not declared is not offered.
type EngineActions struct {
	// probe tells how a member is: it prints one JSON object, and exits with 0 when the member serves. It
	// must not change anything. A verification asks it of the restored copy, in DBC_MEMBER=localhost.
	// +optional
	Probe *EngineAction `json:"probe,omitempty"`

	// backup writes the data of the member DBC_MEMBER to standard output. With DBC_OFFLINE=true that member
	// does not run, and its volume is at DBC_DATA_DIR: the action starts the database itself.
	// +optional
	Backup *EngineAction `json:"backup,omitempty"`

	// restore reads from standard input what backup wrote, and puts it into the empty directory DBC_DATA_DIR.
	// +optional
	Restore *EngineAction `json:"restore,omitempty"`

	// check reports facts about the data of the member DBC_MEMBER. They are recorded when a backup is taken, and
	// a verification compares the restored copy with them. Default: a verification does not compare data.
	// +optional
	Check *EngineCheck `json:"check,omitempty"`
}

// EngineAction is a command that runs in the cluster's image as a Job. Exit codes: 0 done; 11 failed for now,
// try again; 20 a precondition is not met; 30 refused as unsafe; 40 not applicable; anything else failed.
type EngineAction struct {
	// command is what runs: a program of the image, or a script by its path in /dbc/scripts, and its arguments.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command"`
}
