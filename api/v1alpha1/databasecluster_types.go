/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseCluster runs a stateful database. The operator creates a StatefulSet, whose members keep their names
// and volumes, and a headless Service, which gives each member a DNS name. It also creates a Service for clients
// a PodDisruptionBudget and a NetworkPolicy.
//
// The engine defines whether members are independent, or have one database together. The database itself replicates its
// data, and elects its primary: the operator does neither.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database Cluster",order=1,resources={{StatefulSet,v1,""},{Service,v1,""},{PodDisruptionBudget,v1,""},{ConfigMap,v1,""},{Secret,v1,""},{PersistentVolumeClaim,v1,""},{Pod,v1,""},{Job,v1,""},{NetworkPolicy,v1,""},{DatabaseBackup,v1alpha1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=dbc,categories=all;dbcluster
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`,description="Members wanted"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="Members that are ready"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Ready, or the cause why the cluster is not"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Primary",type=string,JSONPath=`.status.primary`,priority=1,description="Pod that accepts writes"
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`,priority=1,description="Version of the database"
// +kubebuilder:printcolumn:name="Recoverable",type=date,JSONPath=`.status.recovery.oldest`,priority=1,description="Age of the earliest time that can be recovered"
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name must be at most 40 characters long, so that the names of the cluster's objects stay valid"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that starts with a letter (lowercase letters, digits and '-'), because Services have the same name"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.endsWith('-headless')",message="metadata.name must not end in '-headless': the headless Service of another cluster may have that name"
// +kubebuilder:validation:XValidation:rule="[self.spec.storage.size, oldSelf.spec.storage.size].exists(size, type(size) == string && !size.matches('^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$')) || quantity(string(self.spec.storage.size)).compareTo(quantity(string(oldSelf.spec.storage.size))) >= 0 || has(oldSelf.status) && has(oldSelf.status.storage) && (quantity(string(self.spec.storage.size)).compareTo(quantity(string(oldSelf.status.storage.requested))) >= 0 || has(oldSelf.status.storage.capacity) && quantity(string(self.spec.storage.size)).isGreaterThan(quantity(string(oldSelf.status.storage.capacity))))",message="spec.storage.size cannot shrink: volumes can only grow. You can lower a growth that is not done yet, to more than status.storage.capacity. To move to smaller volumes, restore a backup into a new cluster"
type DatabaseCluster struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 40 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the cluster.
	// +required
	Spec DatabaseClusterSpec `json:"spec"`

	// status is the observed state of the cluster. observedGeneration is -1 until the operator has observed the
	// cluster, so that tools like kstatus do not report a new cluster as ready.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status DatabaseClusterStatus `json:"status,omitzero"`
}

// DatabaseClusterList is a list of DatabaseClusters.
//
// +kubebuilder:object:root=true
type DatabaseClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DatabaseCluster `json:"items"`
}

// DatabaseClusterSpec is the desired state of a DatabaseCluster.
//
// +kubebuilder:validation:XValidation:rule="!has(self.config) || self.config.mountPath != (has(self.container) && has(self.container.dataPath) ? self.container.dataPath : '/var/lib/database')",message="spec.config.mountPath must not be spec.container.dataPath, where the data volume is mounted"
// +kubebuilder:validation:XValidation:rule="!has(self.container) || !has(self.container.volumeMounts) || self.container.volumeMounts.all(m, m.mountPath != (has(self.container.dataPath) ? self.container.dataPath : '/var/lib/database') && (!has(self.config) || m.mountPath != self.config.mountPath))",message="spec.container.volumeMounts must not mount a volume at spec.container.dataPath or spec.config.mountPath, where the data volume and the configuration files are mounted"
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrap) || !has(self.bootstrap.fromBackup) || !has(self.storage.ephemeral) || !self.storage.ephemeral",message="spec.bootstrap.fromBackup cannot be set together with spec.storage.ephemeral: a restore needs persistent volumes"
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrap) || !has(self.bootstrap.fromBackup) || has(oldSelf.bootstrap) && has(oldSelf.bootstrap.fromBackup)",message="spec.bootstrap.fromBackup cannot be added to a cluster that exists, because a restore never overwrites data: create a new cluster with it"
// +kubebuilder:validation:XValidation:rule="(has(self.bootstrap) && has(self.bootstrap.database)) == (has(oldSelf.bootstrap) && has(oldSelf.bootstrap.database)) && (!has(self.bootstrap) || !has(self.bootstrap.database) || self.bootstrap.database == oldSelf.bootstrap.database)",message="spec.bootstrap.database cannot be changed, because the database exists: rename it in the database, or create a new cluster"
// +kubebuilder:validation:XValidation:rule="(has(self.bootstrap) && has(self.bootstrap.owner)) == (has(oldSelf.bootstrap) && has(oldSelf.bootstrap.owner)) && (!has(self.bootstrap) || !has(self.bootstrap.owner) || self.bootstrap.owner == oldSelf.bootstrap.owner)",message="spec.bootstrap.owner cannot be changed, because the owner exists: rename it in the database, or create a new cluster"
// +kubebuilder:validation:XValidation:rule="!has(self.deletion) || !has(self.deletion.hooks) || !self.deletion.hooks.exists(h, h.type == 'Backup') || has(self.backup)",message="spec.deletion.hooks: a hook of type Backup needs spec.backup.destination"
type DatabaseClusterSpec struct {
	// replicas is the number of members, 1 to 9. The engine may allow a smaller range. Default: 1.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:podCount"
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Replicas int32 `json:"replicas,omitempty"`

	// image is the container image of the database, for example "docker.io/library/postgres:17". It runs as a
	// non-root user. An image that starts as root also needs spec.pod.securityContext.runAsUser.
	// A change restarts the members one by one.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",message="spec.image must not contain spaces, for example docker.io/library/postgres:17"
	Image string `json:"image"`

	// engine is the name of the DatabaseEngine, which describes how to run, back up and restore the database.
	// Fields of this spec override those of the engine. A change restarts the members one by one.
	// Default: none; the cluster then has no backups.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.engine must be the name of a DatabaseEngine: lowercase letters, digits, '-' and '.'; kubectl get databaseengines lists them"
	Engine string `json:"engine,omitempty"`

	// parameters are settings of the database by name. The engine lists them: kubectl describe databaseengine
	// NAME. A change restarts the members one by one; with an engine that has the action configure, it restarts no pod. Default: the
	// engine's defaults.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[a-z]([-_.a-z0-9]{0,61}[a-z0-9])?$') && self[name].size() <= 1024)",message="spec.parameters: a name must have at most 63 lowercase letters, digits, '-', '_' or '.', a value at most 1024 characters. kubectl describe databaseengine lists the parameters of an engine"
	Parameters map[string]string `json:"parameters,omitempty"`

	// credentials are the user names and passwords of the database. Default: generated, if the engine supports it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Credentials ClusterCredentials `json:"credentials,omitzero"`

	// tls encrypts the connections of clients. The engine must support it. A change restarts the members one by one;
	// a renewed certificate does not, if the engine can reload it. Default: no TLS.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	TLS *ClusterTLS `json:"tls,omitempty"`

	// resources are the CPU and memory of each member's database container. Kubernetes changes them while the
	// member runs, where it can. Default: no requests, no limits.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:resourceRequirements"
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// autoResize lets the operator change the requests of resources as a VerticalPodAutoscaler recommends. It never changes
	// resources: status.autoResize has the requests that the operator decided. Without autoResize, the members get those of
	// resources again. Default: resources are in force.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	AutoResize *ClusterAutoResize `json:"autoResize,omitempty"`

	// helpers are the containers that the operator adds: those of its Jobs, and an init container of members that reports
	// the version of the database.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Helpers ClusterHelpers `json:"helpers,omitzero"`

	// storage is the data volume of each member.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Storage ClusterStorage `json:"storage"`

	// config are configuration files in every member. A change restarts the members one by one.
	// Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Config *ClusterConfig `json:"config,omitempty"`

	// container overrides how the database container runs. A change restarts the members one by one.
	// Default: the engine's spec.container.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Container ClusterContainer `json:"container,omitzero"`

	// pod adds to the pods of the members: labels, annotations, volumes, init containers, sidecars. A change
	// restarts the members one by one.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Pod ClusterPod `json:"pod,omitzero"`

	// serviceAccount is the ServiceAccount of the members and of all Jobs of the cluster, for example for the workload
	// identity of a cloud. Pods get no token of the API server. The exception is the database container of members whose
	// engine has roles or state. A change of the name restarts the members one by one. Default: the ServiceAccount
	// "default" of the namespace. If the engine has roles or state, the operator creates one with the name of the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ServiceAccount ClusterServiceAccount `json:"serviceAccount,omitzero"`

	// scheduling selects the nodes on which the members run. A change restarts the members one by one.
	// Default: any node; members spread over nodes and zones where they can.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Scheduling ClusterScheduling `json:"scheduling,omitzero"`

	// service configures the Service for clients, which has the name of the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default={}
	Service ClusterService `json:"service,omitzero"`

	// networkPolicy configures the NetworkPolicy of the members, which has the name of the cluster. All clients
	// may connect to declared ports of sidecars. Other ports are open only to members and to the operator's Jobs.
	// Default: a NetworkPolicy that lets all clients connect to the client port.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	NetworkPolicy ClusterNetworkPolicy `json:"networkPolicy,omitzero"`

	// monitoring configures metrics of the database for Prometheus: the port that serves them, the objects of the Prometheus Operator,
	// and the limits of alerts. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Monitoring *ClusterMonitoring `json:"monitoring,omitempty"`

	// updateStrategy controls how changes reach running members.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default={}
	UpdateStrategy ClusterUpdateStrategy `json:"updateStrategy,omitzero"`

	// disruption controls how the members leave a node that is drained.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Disruption ClusterDisruption `json:"disruption,omitzero"`

	// paused stops the operator from changing anything. It still reports the status, and a deletion still
	// proceeds. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:booleanSwitch"
	Paused bool `json:"paused,omitempty"`

	// hibernated stops all members, one by one from the highest ordinal and the primary last, and keeps their
	// volumes. The members start again when you set it to false. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:booleanSwitch"
	Hibernated bool `json:"hibernated,omitempty"`

	// backup configures backups: destination, schedules, retention and verification. The engine must have a
	// backup action. Default: no backups.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Backup *ClusterBackup `json:"backup,omitempty"`

	// bootstrap is the initial data of a new cluster: a backup, and the database for applications. Default: empty
	// volumes, or the retained volumes of a previous cluster of the same name.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Bootstrap *ClusterBootstrap `json:"bootstrap,omitempty"`

	// deletion controls what happens when you delete the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default={}
	Deletion ClusterDeletion `json:"deletion,omitzero"`
}
