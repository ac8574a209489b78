/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseClusterStatus is the observed state of a DatabaseCluster.
type DatabaseClusterStatus struct {
	// conditions are the state of the cluster. Every cluster has Ready, Available, Progressing, Degraded and Stalled.
	// Other conditions appear when they apply, for example BackupHealthy in a cluster with spec.backup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec to which the cluster's objects correspond.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of members that exist.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of members that are ready.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ReadyReplicas int32 `json:"readyReplicas"`

	// updatedReplicas is the number of members with the current pod template.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// updateRevision is the revision of the current pod template. Pods with this template have it in their label
	// controller-revision-hash.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=253
	UpdateRevision string `json:"updateRevision,omitempty"`

	// statefulSet is the StatefulSet as the operator last wrote it. The operator reverts a StatefulSet that differs, because another
	// client changed it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	StatefulSet *WrittenWorkload `json:"statefulSet,omitempty"`

	// members are the pods of the cluster, by ordinal.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=pod
	// +kubebuilder:validation:MaxItems=64
	Members []MemberStatus `json:"members,omitempty"`

	// primary is the pod of the member that accepts writes. It is empty while no member is known to, and for engines
	// without roles.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Primary string `json:"primary,omitempty"`

	// drain is set while the primary runs on a node that is cordoned, or that an autoscaler is about to remove. It is empty for engines
	// without roles.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Drain *ClusterDrainStatus `json:"drain,omitempty"`

	// binding names the connection Secret, in the form of the Service Binding specification. It is empty if the
	// engine describes no connection.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Binding *ClusterBinding `json:"binding,omitempty"`

	// credentials is the state of generated passwords. It is empty until they were rotated.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Credentials *ClusterCredentialsStatus `json:"credentials,omitempty"`

	// endpoints are the addresses at which clients reach the database.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Endpoints []ClusterEndpoint `json:"endpoints,omitempty"`

	// version is the version of the database, as all members report it. It is empty while they differ, and if no
	// versionCommand is known.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version,omitempty"`

	// storage is the size of the volumes. It is empty for ephemeral storage.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Storage *ClusterStorageStatus `json:"storage,omitempty"`

	// autoResize is the last decision about the resources of the members. It is empty before the first one, and once the
	// members have spec.resources again.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	AutoResize *ClusterAutoResizeStatus `json:"autoResize,omitempty"`

	// volumes are the claims with the data of members, as the operator has seen them. A member whose claim is replaced by another one
	// does not start with that before you consent, if no other member has its data. It is empty for ephemeral storage.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=claim
	// +kubebuilder:validation:MaxItems=64
	Volumes []VolumeRecord `json:"volumes,omitempty"`

	// backup is the state of the cluster's backups. It is empty without spec.backup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Backup *ClusterBackupStatus `json:"backup,omitempty"`

	// recovery is what can be recovered to a point in time. It is empty without spec.backup.archive.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Recovery *ClusterRecoveryStatus `json:"recovery,omitempty"`

	// objects is the result of the last run of the engine's action objects, for the Databases and DatabaseUsers of the cluster. It is empty
	// before the first one.
	// +optional
	Objects *ClusterObjectsStatus `json:"objects,omitempty"`

	// tls is the state of the certificate of the members. It is empty without spec.tls.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	TLS *ClusterTLSStatus `json:"tls,omitempty"`

	// bootstrap is whether the cluster starts with a backup or with an empty database, by spec.bootstrap.fromBackup.newest. It is empty
	// until the operator knows, and without newest.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Bootstrap *ClusterBootstrapStatus `json:"bootstrap,omitempty"`

	// restore is the progress or the result of the restore of spec.bootstrap.fromBackup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Restore *ClusterRestoreStatus `json:"restore,omitempty"`

	// replacement is how a DatabaseRestore replaces the data of the cluster, and which volumes the members use since. It is empty if
	// none has.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Replacement *ClusterReplacementStatus `json:"replacement,omitempty"`

	// requests are the latest requests by annotations, one of each type. A request is executed at most once. A request of type HandOver
	// or Rebuild that a cluster has before its first status is refused. A row ends with its annotation.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Requests []ClusterRequestStatus `json:"requests,omitempty"`

	// configuration is what the action configure of the engine has put in force. It is empty for an engine without that action.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Configuration *ClusterConfigurationStatus `json:"configuration,omitempty"`

	// hooks are the states of the deletion hooks, in their order. They exist only during a deletion.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Hooks []HookStatus `json:"hooks,omitempty"`

	// selector is the label selector of the members in text form, for the scale subresource.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=512
	Selector string `json:"selector,omitempty"`
}

// WrittenWorkload identifies the spec of a StatefulSet, or of the Deployment of a companion.
type WrittenWorkload struct {
	// uid is the UID of the object.
	// +required
	// +kubebuilder:validation:MaxLength=36
	UID string `json:"uid"`

	// generation is the generation of its spec.
	// +required
	Generation int64 `json:"generation"`

	// specHash is a hash of its spec without the number of pods and the templates of claims.
	// +required
	// +kubebuilder:validation:MaxLength=64
	SpecHash string `json:"specHash"`
}
