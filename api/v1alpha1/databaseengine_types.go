/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseEngine describes how to run, back up and restore a kind of database: its container, scripts, parameters
// and actions. A DatabaseCluster selects an engine in spec.engine. The spec cannot be changed. A new version is a new
// DatabaseEngine, by convention with the version at the end of its name, for example postgresql-single-v1.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=dbe,categories=dbcluster
// +kubebuilder:printcolumn:name="Accepted",type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="Whether clusters can use the engine"
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

	// spec is the description of the engine. It cannot be changed.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec cannot be changed: create a DatabaseEngine with another name, for example the next version, and set it in spec.engine of the clusters"
	Spec DatabaseEngineSpec `json:"spec"`

	// status reports whether clusters can use the engine. It is empty until the operator has observed the engine.
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

// EngineTopology is the relation between the members of a cluster.
type EngineTopology string

const (
	// TopologyIndependent means that members are independent, and each has data of its own.
	TopologyIndependent EngineTopology = "Independent"
	// TopologyPrimaryReplica means that one member, the primary, accepts writes, and the others copy its data. The
	// engine's own software elects the primary.
	TopologyPrimaryReplica EngineTopology = "PrimaryReplica"
	// TopologyConsensus means that the members agree on each write by a majority.
	TopologyConsensus EngineTopology = "Consensus"
)

// DatabaseEngineSpec describes how to run a kind of database.
//
// +kubebuilder:validation:XValidation:rule="has(self.roles) == (self.topology == 'PrimaryReplica')",message="spec.roles is required for the topology PrimaryReplica, and not allowed for others"
// +kubebuilder:validation:XValidation:rule="self.topology == 'Independent' ? !has(self.actions) || !has(self.actions.initialize) : has(self.actions) && has(self.actions.initialize)",message="spec.actions.initialize is required for the topologies PrimaryReplica and Consensus, and not allowed for Independent"
// +kubebuilder:validation:XValidation:rule="(has(self.actions) && has(self.actions.handOver)) == (self.topology == 'PrimaryReplica')",message="spec.actions.handOver is required for the topology PrimaryReplica, and not allowed for others"
// +kubebuilder:validation:XValidation:rule="(has(self.actions) && has(self.actions.memberRemove)) == (self.topology == 'Consensus')",message="spec.actions.memberRemove is required for the topology Consensus, and not allowed for others"
// +kubebuilder:validation:XValidation:rule="!has(self.otherParameters) || !self.otherParameters || has(self.actions) && has(self.actions.configure)",message="spec.otherParameters needs the action configure"
// +kubebuilder:validation:XValidation:rule="!has(self.state) || self.topology != 'Independent'",message="spec.state is not allowed for the topology Independent"
// +kubebuilder:validation:XValidation:rule="!has(self.actions) || !has(self.actions.objects) || !has(self.actions.objects.certificates) || self.actions.objects.certificates != 'Supported' || has(self.tls)",message="spec.actions.objects.certificates Supported needs spec.tls: add it, or remove certificates"
// +kubebuilder:validation:XValidation:rule="!has(self.metrics) || !has(self.metrics.sidecar) || !has(self.metrics.sidecar.secretKeys) || has(self.secretKeys) && self.metrics.sidecar.secretKeys.all(name, self.secretKeys.exists(key, key.name == name))",message="spec.metrics.sidecar.secretKeys has a name that is not in spec.secretKeys: correct the name, or add the key"
// +kubebuilder:validation:XValidation:rule="!has(self.container) || !has(self.container.scripts) || has(self.scripts) && self.container.scripts.all(name, name in self.scripts)",message="spec.container.scripts has a name that is not in spec.scripts: correct the name, or add the script"
type DatabaseEngineSpec struct {
	// description is one sentence about the engine. Default: empty.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxLength=1024
	Description string `json:"description,omitempty"`

	// topology is the relation between the members. Independent: each member has data of its own. PrimaryReplica: one
	// member, the primary, accepts writes, and the others copy its data. Consensus: the members agree on each write by a
	// majority, and each is ready only while it belongs to one. The operator never elects a primary: the software of the engine does.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:Enum=Independent;PrimaryReplica;Consensus
	Topology EngineTopology `json:"topology"`

	// roles describe how members of the topology PrimaryReplica report who is the primary.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Roles *EngineRoles `json:"roles,omitempty"`

	// state names objects in which the members keep their agreement. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	State *EngineState `json:"state,omitempty"`

	// replicas limits the number of members of a cluster. The operator refuses other values of spec.replicas with
	// Stalled. Default: 1 to 9.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default={}
	Replicas EngineReplicas `json:"replicas,omitzero"`

	// container describes how to run the database in the cluster's image. The cluster's spec.container and spec.pod
	// override it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Container EngineContainer `json:"container,omitzero"`

	// scripts are executable files by name. Members and actions find them in /dbc/scripts: see container.scripts. At most
	// 64 scripts, with 196608 characters in all. Pods have them as annotations, for which Kubernetes allows 262144 bytes, names and
	// other annotations included. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[A-Za-z0-9]([-A-Za-z0-9_.]{0,46}[A-Za-z0-9])?$'))",message="spec.scripts: a name must have 1 to 48 letters, digits, '-', '_' or '.', and begin and end with a letter or digit"
	// +kubebuilder:validation:XValidation:rule="self.map(name, self[name].size()).sum() <= 196608",message="spec.scripts must have at most 196608 characters in all, because pods have them as annotations"
	Scripts map[string]EngineScript `json:"scripts,omitempty"`

	// parameters are the settings that clusters can set in spec.parameters. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(p, self.exists_one(q, q.name.replace('-', '_').replace('.', '_') == p.name.replace('-', '_').replace('.', '_')))",message="spec.parameters: two names that differ only in '-', '_' and '.' would have the same environment variable"
	Parameters []EngineParameter `json:"parameters,omitempty"`

	// otherParameters is true if clusters can set parameters that are not in the list. The actions initialize and
	// configure find all parameters in DBC_PARAMETERS, a JSON object, and report those that the database does not have.
	// Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	OtherParameters bool `json:"otherParameters,omitempty"`

	// restoresFrom lists other engines whose backups the action restore reads, too. So a new cluster of this engine can
	// start with their data: spec.bootstrap.fromBackup.name. At most 8. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=set
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	RestoresFrom []string `json:"restoresFrom,omitempty"`

	// secretKeys are the keys of the Secret with the credentials of a cluster. Members and actions find each key as a
	// file in /dbc/secrets. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	SecretKeys []EngineSecretKey `json:"secretKeys,omitempty"`

	// bootstrap is the database and its owner that members create at their first start, for applications.
	// Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Bootstrap EngineBootstrap `json:"bootstrap,omitzero"`

	// connection describes the connection Secret of a cluster, which applications use. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Connection *EngineConnection `json:"connection,omitempty"`

	// tls describes how the database serves TLS. Default: clusters of the engine cannot set spec.tls.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	TLS *EngineTLS `json:"tls,omitempty"`

	// companions are stateless pods that a DatabaseCompanion can run beside a cluster, such as a connection pooler. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Companions []EngineCompanion `json:"companions,omitempty"`

	// metrics describe how Prometheus scrapes members. Default: clusters of the engine serve no metrics of the database.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Metrics *EngineMetrics `json:"metrics,omitempty"`

	// actions are the operations of the database that the operator can run.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Actions EngineActions `json:"actions,omitzero"`
}

// EngineReplicas limits the number of members of a cluster.
//
// +kubebuilder:validation:XValidation:rule="(has(self.min) ? self.min : 1) <= (has(self.max) ? self.max : 9)",message="spec.replicas: min must not be greater than max"
type EngineReplicas struct {
	// min is the lowest number of members, 1 to 9. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Min int32 `json:"min,omitempty"`

	// max is the highest number of members, 1 to 9. Default: 9.
	// +optional
	// +kubebuilder:default=9
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Max int32 `json:"max,omitempty"`

	// odd is true if the number of members must be odd, as for databases that decide by a majority. Default: false.
	// +optional
	Odd bool `json:"odd,omitempty"`
}

// DatabaseEngineStatus is the observed state of a DatabaseEngine.
type DatabaseEngineStatus struct {
	// conditions are the state of the engine. Accepted is True if clusters can use the engine. If it is False, the
	// message describes what is wrong with the spec and what to do.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation that the operator has observed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// EngineScript is the text of a script.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=65536
type EngineScript string

// EngineContainer describes how to run the database in the cluster's image.
type EngineContainer struct {
	// command replaces the image's entrypoint. Default: the image's entrypoint.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// args replace the image's arguments. "$(DBC_PARAM_NAME)" is replaced by the value of a parameter. Clusters with
	// a command of their own ignore these arguments. Default: the image's arguments.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=65536
	Args []string `json:"args,omitempty"`

	// env are environment variables of members and actions. Those of the cluster's spec override them. A value can
	// refer to DBC_PORT, DBC_DATA_DIR, DBC_SECRETS_DIR and DBC_PARAM_..., for example "$(DBC_PORT)". Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=64
	Env []EngineVariable `json:"env,omitempty"`

	// port is the TCP port of the database, 1 to 65535. Default: 9000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// otherPorts are further TCP ports that the software of the engine uses, 1 to 65535. Clusters cannot set them in
	// spec.container.port. Default: none.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	OtherPorts []int32 `json:"otherPorts,omitempty"`

	// sharedMemory is true if the database needs more shared memory in /dev/shm than the 64 MiB of a container. Members and
	// Jobs then have a volume in memory there. Its contents count as memory of the container, so the memory limit bounds it.
	// Default: false.
	// +optional
	SharedMemory bool `json:"sharedMemory,omitempty"`

	// dataPath is the absolute path at which the data volume is mounted. Default: /var/lib/database.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="spec.container.dataPath must be an absolute path without ':' or '..'"
	DataPath string `json:"dataPath,omitempty"`

	// runAsUser is the user ID of the database, not 0. Default: the image's user.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483647
	RunAsUser *int64 `json:"runAsUser,omitempty"`

	// terminationGracePeriodSeconds is the time that a member has to stop before the kubelet kills it, in seconds,
	// 0 to 86400. Default: 120.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// versionCommand prints the version of the database, for status.version of clusters. It runs in the image before each
	// start of a member, with the scripts, but without Secrets, data and variables. The image must have sh. If the command
	// fails, the member starts without a version. Default: clusters have no status.version.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	VersionCommand []string `json:"versionCommand,omitempty"`

	// scripts are the names of the scripts in spec.scripts that members need: those of the command, the probes and
	// versionCommand. List also the scripts that these run, source or import. A change of another script restarts no member.
	// Jobs have all scripts. Default: members have all scripts, too.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=48
	Scripts []string `json:"scripts,omitempty"`

	MemberProbes `json:",inline"`
}

// EngineVariable is an environment variable.
type EngineVariable struct {
	// name is the name of the variable. Names that start with "DBC_" are reserved for the operator.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z_][A-Za-z0-9_]*$') && !self.startsWith('DBC_')",message="spec.container.env[].name must have letters, digits and '_' only, must not begin with a digit or with 'DBC_', which is reserved for the operator"
	Name string `json:"name"`

	// value is the value of the variable. "$(NAME)" is replaced by the value of another variable. Default: empty.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Value string `json:"value,omitempty"`
}
