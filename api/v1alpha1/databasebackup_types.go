/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseBackup is one backup of a DatabaseCluster. The operator creates the backup once, when you create this
// object, and stores it at the destination. It still exists after the cluster is deleted. Backups of one cluster run
// one after the other, in the order of their creation.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database Backup",order=2,resources={{Job,v1,""},{Pod,v1,""},{PersistentVolumeClaim,v1,""},{Secret,v1,""},{NetworkPolicy,v1,""},{DatabaseCluster,v1alpha1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbb,categories=all;dbcluster
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.size`,description="Size before compression; the progress while the backup runs"
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.duration`
// +kubebuilder:printcolumn:name="Verified",type=string,JSONPath=`.status.verification.phase`,description="Phase of the last verification"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Rate",type=string,JSONPath=`.status.rate`,priority=1
// +kubebuilder:printcolumn:name="Location",type=string,JSONPath=`.status.location`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="metadata.name must be a DNS label of at most 63 characters (lowercase letters, digits and '-')"
type DatabaseBackup struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 63 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec names the cluster and the destination. Only spec.deletionPolicy can be changed.
	// +required
	Spec DatabaseBackupSpec `json:"spec"`

	// status is the observed state of the backup.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status DatabaseBackupStatus `json:"status,omitzero"`
}

// DatabaseBackupList is a list of DatabaseBackups.
//
// +kubebuilder:object:root=true
type DatabaseBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []DatabaseBackup `json:"items"`
}

// BackupDeletionPolicy is what happens to the data when the DatabaseBackup is deleted.
type BackupDeletionPolicy string

const (
	// BackupRetain means that the data stays at the destination.
	BackupRetain BackupDeletionPolicy = "Retain"
	// BackupDelete means that the operator deletes the data before the DatabaseBackup.
	BackupDelete BackupDeletionPolicy = "Delete"
)

// DatabaseBackupSpec is the desired state of a DatabaseBackup.
//
// +kubebuilder:validation:XValidation:rule="self.cluster == oldSelf.cluster",message="spec.cluster cannot be changed: create another DatabaseBackup"
// +kubebuilder:validation:XValidation:rule="has(self.destination) == has(oldSelf.destination) && (!has(self.destination) || self.destination == oldSelf.destination)",message="spec.destination cannot be changed: create another DatabaseBackup"
type DatabaseBackupSpec struct {
	// cluster is the name of the DatabaseCluster, in the same namespace.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="spec.cluster must be the name of a DatabaseCluster in this namespace"
	Cluster string `json:"cluster"`

	// destination is where the operator stores the backup. The cluster's retention, unhealthyAfter and verification
	// ignore backups with a destination of their own. Default: spec.backup.destination of the cluster at the time when
	// the backup starts.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Destination *BackupDestination `json:"destination,omitempty"`

	// deletionPolicy is Retain or Delete: whether the operator retains or deletes the data when you delete this object.
	// Backups of schedules have Delete. The operator always retains the data if the namespace is being deleted.
	// Default: Retain.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:select:Retain","urn:alm:descriptor:com.tectonic.ui:select:Delete"}
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	DeletionPolicy BackupDeletionPolicy `json:"deletionPolicy,omitempty"`
}

// BackupPhase is the phase of a DatabaseBackup.
type BackupPhase string

// Phases of a DatabaseBackup.
const (
	// BackupPending: the backup has not started. The message has the cause.
	BackupPending BackupPhase = "Pending"
	// BackupRunning: the operator writes data to the destination.
	BackupRunning BackupPhase = "Running"
	// BackupCompleted: all data is at the destination. This phase is final.
	BackupCompleted BackupPhase = "Completed"
	// BackupFailed: the backup failed and cannot be restored. This phase is final.
	BackupFailed BackupPhase = "Failed"
)

// Finished reports whether the phase is final.
func (p BackupPhase) Finished() bool { return p == BackupCompleted || p == BackupFailed }

// DatabaseBackupStatus is the observed state of a DatabaseBackup.
type DatabaseBackupStatus struct {
	// phase is Pending, Running, Completed or Failed. Completed and Failed are final.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.phase"
	// +kubebuilder:validation:Enum=Pending;Running;Completed;Failed
	Phase BackupPhase `json:"phase,omitempty"`

	// message describes what the backup waits for, or why it failed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.phase:reason"
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// conditions are Ready, True when the backup is complete, and Stalled, True when it failed or needs an action of
	// the user. During a deletion there is DeletionBlocked, and after a verification Verified.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the operator has observed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// origin is the schedule that created this DatabaseBackup. Only the operator writes it; labels and annotations
	// cannot replace it. Retention deletes only backups with an origin. Default: none, for a backup that a user, a
	// deletion hook or another program created.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Origin *BackupOrigin `json:"origin,omitempty"`

	// location is the URL of the backup at its destination. To restore the backup after this object is deleted, set
	// it as spec.bootstrap.fromBackup.location.url of a new cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=2048
	Location string `json:"location,omitempty"`

	// destination is the destination of the backup at the time when it started.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Destination *BackupDestination `json:"destination,omitempty"`

	// clusterUID is the UID of the DatabaseCluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=128
	ClusterUID string `json:"clusterUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID

	// volumeClaimTemplate is the name of the volumeClaimTemplate of the volumes whose data it has, after a DatabaseRestore has replaced the
	// data of the cluster. It is empty for the first volumes of the cluster.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	VolumeClaimTemplate string `json:"volumeClaimTemplate,omitempty"`

	// reuses is the URL of the last backup before this one, to whose data this one may refer. That data can be in older backups. It is empty
	// if the backup stores all its data.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=2048
	Reuses string `json:"reuses,omitempty"`

	// serviceAccountName is the ServiceAccount of the backup's Jobs. The Job that deletes the data uses it if the
	// cluster no longer exists. It is empty for "default".
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`

	// fence identifies the stop of the members before this backup started. The operator sets it only if the cluster is
	// being deleted, no member exists, and the StatefulSet creates none. If members start later, the StatefulSet and
	// this value differ, and spec.deletion.volumes deletes no volume because of this backup. Default: empty.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=128
	Fence string `json:"fence,omitempty"`

	// engine is the DatabaseEngine of the cluster at the time when the operator created the first Job.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=253
	Engine string `json:"engine,omitempty"`

	// image is the image of the cluster at the time when the operator created the first Job.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"`

	// replicas is the number of members whose data the backup contains. It is 1 if all members have one database.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Replicas int32 `json:"replicas,omitempty"`

	// startTime is the time at which the operator started the backup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is the time at which the backup was complete.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// duration is the time between startTime and completionTime in a readable form.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Duration string `json:"duration,omitempty"`

	// bytes is the size of the backup before compression, in bytes. It grows while the backup runs.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Bytes int64 `json:"bytes,omitempty"`

	// storedBytes is the size of what this backup stored at the destination, in bytes.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	StoredBytes int64 `json:"storedBytes,omitempty"`

	// size is bytes in a readable form, for example 1.2 GiB.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Size string `json:"size,omitempty"`

	// rate is the current or, once the backup is complete, the average rate in a readable form, for example 85 MiB/s.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Rate string `json:"rate,omitempty"`

	// streams are the parts of the backup, one for each member.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=ordinal
	// +kubebuilder:validation:MaxItems=16
	Streams []BackupStream `json:"streams,omitempty"`

	// verification is the last verification of the backup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Verification *BackupVerification `json:"verification,omitempty"`
}
