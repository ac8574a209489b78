/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseCluster runs a stateful database: a StatefulSet whose members keep their names and volumes,
// a headless Service that gives each member a DNS name, a Service in front of all of them, and a
// PodDisruptionBudget.
//
// Members are independent of each other: what one stores, the others do not see, unless the
// database's own software relates them.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database Cluster",order=1,resources={{StatefulSet,v1,""},{Service,v1,""},{PodDisruptionBudget,v1,""},{ConfigMap,v1,""},{Secret,v1,""},{PersistentVolumeClaim,v1,""},{Pod,v1,""},{Job,v1,""},{NetworkPolicy,v1,""},{DatabaseBackup,v1alpha1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:shortName=dbc,categories=all;databases
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.spec.replicas`,description="Members wanted"
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`,description="Members that are ready"
// +kubebuilder:printcolumn:name="Status",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].reason`,description="Reason of the Available condition"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.image`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name must be at most 40 characters long, so that the names derived from it stay valid"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that starts with a letter (lower case letters, digits and '-'), because Services bear it"
// +kubebuilder:validation:XValidation:rule="!self.metadata.name.endsWith('-headless')",message="metadata.name must not end in '-headless': the headless Service of another cluster may bear that name"
// +kubebuilder:validation:XValidation:rule="[self.spec.storage.size, oldSelf.spec.storage.size].exists(size, type(size) == string && !size.matches('^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$')) || quantity(string(self.spec.storage.size)).compareTo(quantity(string(oldSelf.spec.storage.size))) >= 0 || has(oldSelf.status) && has(oldSelf.status.storage) && (quantity(string(self.spec.storage.size)).compareTo(quantity(string(oldSelf.status.storage.requested))) >= 0 || has(oldSelf.status.storage.capacity) && quantity(string(self.spec.storage.size)).isGreaterThan(quantity(string(oldSelf.status.storage.capacity))))",message="spec.storage.size cannot shrink: a volume can only grow, and only a growth that is not done yet can be lowered, to more than the volumes have (status.storage.capacity); restore a backup into a new cluster instead"
type DatabaseCluster struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 40 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the cluster as its owner wants it.
	// +required
	Spec DatabaseClusterSpec `json:"spec"`

	// status is the cluster as the operator last saw it. Until it saw one, observedGeneration is -1, by which
	// tools tell that nothing is known yet (kstatus takes an object without a status for settled).
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

// DatabaseClusterSpec is what the owner of a DatabaseCluster wants.
//
// +kubebuilder:validation:XValidation:rule="!has(self.config) || self.config.path != (has(self.dataPath) ? self.dataPath : '/var/lib/database')",message="spec.config.path must not be spec.dataPath: the data volume is there"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.template.volumeMounts) || self.template.volumeMounts.all(m, m.mountPath != (has(self.dataPath) ? self.dataPath : '/var/lib/database') && (!has(self.config) || m.mountPath != self.config.path))",message="spec.template.volumeMounts must not mount anything at spec.dataPath or spec.config.path: the data and the files are there"
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrap) || !has(self.bootstrap.fromBackup) || !has(self.storage.ephemeral) || !self.storage.ephemeral",message="spec.bootstrap.fromBackup cannot be set together with spec.storage.ephemeral: there are no volumes that a backup could be restored into"
// +kubebuilder:validation:XValidation:rule="!has(self.bootstrap) || has(oldSelf.bootstrap)",message="spec.bootstrap is for a new cluster and cannot be added to one that exists: that has data, which is never overwritten; create another cluster with it"
// +kubebuilder:validation:XValidation:rule="!has(self.deletion) || !has(self.deletion.hooks) || !self.deletion.hooks.exists(h, h.type == 'Backup') || has(self.backup)",message="spec.deletion.hooks: one of type Backup needs spec.backup, whose destination says where the backup goes"
type DatabaseClusterSpec struct {
	// replicas is the number of members, 1 to 9.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:podCount"
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Replicas int32 `json:"replicas"`

	// image is the container image that runs the database, for example "docker.io/library/postgres:17".
	// The operator runs it as a non-root user; an image that starts as root also needs
	// podSecurityContext.runAsUser.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^\S+$`
	Image string `json:"image"`

	// engine is the DatabaseEngine that says how the database is run, backed up and restored. What this spec
	// says itself wins over it. Default: none; the spec says all, and there are no backups.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Engine string `json:"engine,omitempty"`

	// parameters are settings of the database that its engine offers, by name. Members are restarted one by
	// one for a change. Default: what the engine says.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(name, name.matches('^[a-z]([-_.a-z0-9]{0,61}[a-z0-9])?$') && self[name].size() <= 1024)",message="spec.parameters: a name must have at most 63 lower case letters, digits, '-', '_' or '.', a value at most 1024 characters; kubectl describe databaseengine lists the parameters of an engine"
	Parameters map[string]string `json:"parameters,omitempty"`

	// secretName is a Secret of this namespace whose keys members and actions find as files in /dbc/secrets.
	// The engine says which keys it needs. Default: none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:io.kubernetes:Secret"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	SecretName string `json:"secretName,omitempty"`

	// imagePullPolicy says when the kubelet pulls the image: Always, IfNotPresent or Never.
	// Default: Always for the tag "latest", otherwise IfNotPresent.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:imagePullPolicy"
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// imagePullSecrets name Secrets of this namespace with credentials for the image's registry.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MaxItems=16
	// +listType=map
	// +listMapKey=name
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// resources are the CPU and memory that each member requests and may use.
	// Default: none requested, no limit.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:resourceRequirements"
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// storage is the data volume of each member.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Storage Storage `json:"storage"`

	// port is the TCP port on which the database listens, 1 to 65535. Both Services offer it under
	// the name "db". Default: the engine's, or 9000.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:number"
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`

	// dataPath is the absolute path at which a member finds its data volume.
	// Default: the engine's, or /var/lib/database.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.matches('^(/[^/:]+)+$') && !self.contains('/../') && !self.endsWith('/..')",message="spec.dataPath must be an absolute path without ':' or '..'"
	DataPath string `json:"dataPath,omitempty"`

	// command replaces the image's entrypoint. Default: the engine's, or the image's own.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// args replace the image's arguments. Default: the engine's, unless command is set; or the image's own.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=65536
	Args []string `json:"args,omitempty"`

	// env are environment variables of every member. Names that start with "DBC_" are the operator's.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !e.name.startsWith('DBC_'))",message="spec.env must not set variables whose names start with 'DBC_': the operator sets those"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom takes environment variables from Secrets and ConfigMaps of this namespace.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// probes tell Kubernetes when a member has started, is ready, is alive.
	// Default: none, a member then counts as ready as soon as its container runs.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Probes Probes `json:"probes,omitzero"`

	// terminationGracePeriodSeconds is how long a member may take to stop before it is killed,
	// in seconds, 0 to 86400. Default: the engine's, or 120.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:number"
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	TerminationGracePeriodSeconds *int64 `json:"terminationGracePeriodSeconds,omitempty"`

	// service shapes the Service in front of all members, which bears the cluster's name.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default={}
	Service Service `json:"service,omitzero"`

	// scheduling says on which nodes members run.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Scheduling Scheduling `json:"scheduling,omitzero"`

	// podSecurityContext overrides, field by field, the defaults of every pod: runAsNonRoot true,
	// seccompProfile RuntimeDefault, fsGroup 65532, fsGroupChangePolicy OnRootMismatch.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	PodSecurityContext *corev1.PodSecurityContext `json:"podSecurityContext,omitempty"`

	// containerSecurityContext overrides, field by field, the defaults of the database container:
	// allowPrivilegeEscalation false, all capabilities dropped.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	ContainerSecurityContext *corev1.SecurityContext `json:"containerSecurityContext,omitempty"`

	// config are files that every member finds at a path of its own, read-only. A change restarts the
	// members one by one.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Config *Config `json:"config,omitempty"`

	// template adds to the members' pods: labels, annotations, volumes, further containers. It cannot
	// change what the other fields say, nor weaken what keeps the pods secure.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Template PodTemplate `json:"template,omitzero"`

	// update says how a change reaches the members that run.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default={}
	Update Update `json:"update,omitzero"`

	// paused makes the operator observe and report only: it changes nothing, whatever the spec says,
	// until this is false again. A deletion goes on all the same. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:booleanSwitch"
	Paused bool `json:"paused,omitempty"`

	// hibernated stops all members, one by one from the highest ordinal, and keeps their volumes. They come
	// back when this is false again. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:booleanSwitch"
	Hibernated bool `json:"hibernated,omitempty"`

	// backup says where backups go, when they are made, how long they are kept, and how they are proved. It
	// needs an engine that offers backups. Default: no backups.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Backup *Backup `json:"backup,omitempty"`

	// bootstrap says what a new cluster starts with. It is read until the members are made for the first time.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Bootstrap *Bootstrap `json:"bootstrap,omitempty"`

	// deletion says what happens before the cluster goes when it is deleted.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:default={}
	Deletion Deletion `json:"deletion,omitzero"`
}
