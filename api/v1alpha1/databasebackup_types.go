/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseBackup is one backup of a DatabaseCluster: made once, when this object is created, and kept at its
// destination. It outlives the cluster. Backups of one cluster run one after the other, in the order of their
// creation.
//
// +operator-sdk:csv:customresourcedefinitions:displayName="Database Backup",order=2,resources={{Job,v1,""},{Pod,v1,""},{PersistentVolumeClaim,v1,""},{Secret,v1,""},{NetworkPolicy,v1,""},{DatabaseCluster,v1alpha1,""},{Event,v1,""}}
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dbb,categories=all;databases
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.cluster`
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Size",type=string,JSONPath=`.status.size`,description="What the database gave, so far while it runs"
// +kubebuilder:printcolumn:name="Duration",type=string,JSONPath=`.status.duration`
// +kubebuilder:printcolumn:name="Verified",type=string,JSONPath=`.status.verification.phase`,description="Whether a restore of it has been tried"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Rate",type=string,JSONPath=`.status.rate`,priority=1
// +kubebuilder:printcolumn:name="Location",type=string,JSONPath=`.status.location`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="metadata.name must be a DNS label of at most 63 characters (lower case letters, digits and '-')"
type DatabaseBackup struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name is at most 63 characters long.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec says what is backed up and where to. Only spec.deletionPolicy can be changed.
	// +required
	Spec DatabaseBackupSpec `json:"spec"`

	// status is the backup as the operator last saw it.
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

// BackupDeletionPolicy says what becomes of a backup's data when its DatabaseBackup is deleted.
type BackupDeletionPolicy string

const (
	// BackupRetain keeps the data at its destination.
	BackupRetain BackupDeletionPolicy = "Retain"
	// BackupDelete deletes the data before the DatabaseBackup goes.
	BackupDelete BackupDeletionPolicy = "Delete"
)

// DatabaseBackupSpec says what is backed up and where to.
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

	// destination is where the backup goes. A backup with a destination of its own does not count for the
	// cluster's retention, maxAge and verification. Default: the cluster's spec.backup.destination, as it is when
	// the backup starts.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Destination *BackupDestination `json:"destination,omitempty"`

	// deletionPolicy says what becomes of the data when this object is deleted: Retain keeps it, Delete
	// deletes it first. Backups that a schedule made have Delete. In a namespace that is itself being deleted
	// the data always stays. Default: Retain.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:select:Retain","urn:alm:descriptor:com.tectonic.ui:select:Delete"}
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	DeletionPolicy BackupDeletionPolicy `json:"deletionPolicy,omitempty"`
}

// BackupPhase says in one word how far a backup is.
type BackupPhase string

// Phases of a DatabaseBackup.
const (
	// BackupPending: it has not started; the message says what it waits for.
	BackupPending BackupPhase = "Pending"
	// BackupRunning: data is being written.
	BackupRunning BackupPhase = "Running"
	// BackupCompleted: everything is at the destination. Never changes.
	BackupCompleted BackupPhase = "Completed"
	// BackupFailed: it will not come about; nothing of it counts. Never changes.
	BackupFailed BackupPhase = "Failed"
)

// Finished tells whether the phase never changes again.
func (p BackupPhase) Finished() bool { return p == BackupCompleted || p == BackupFailed }

// DatabaseBackupStatus is what the operator last saw.
type DatabaseBackupStatus struct {
	// phase is Pending, Running, Completed or Failed. The last two never change.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.phase"
	// +kubebuilder:validation:Enum=Pending;Running;Completed;Failed
	Phase BackupPhase `json:"phase,omitempty"`

	// message says what the backup waits for, or why it failed.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.phase:reason"
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// conditions are Ready (True when the backup is complete) and Stalled (True when it has failed, or waits
	// for a human); while it is being deleted, DeletionBlocked; once it was asked for, Verified.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// origin names the schedule that created this DatabaseBackup. Only the operator writes it: a label or an
	// annotation cannot replace it. Retention deletes only backups that have it. Default: none, for a backup that
	// a user, a deletion hook or another program created.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Origin *BackupOrigin `json:"origin,omitempty"`

	// location is the URL of the backup at its destination: what spec.bootstrap.fromBackup.location.url of a
	// new cluster takes when this object is gone.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=2048
	Location string `json:"location,omitempty"`

	// destination is where the backup went, as it was when it started.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Destination *BackupDestination `json:"destination,omitempty"`

	// clusterUID is the UID of the DatabaseCluster that was backed up.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=128
	ClusterUID string `json:"clusterUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID

	// fence identifies the stop of the members before this backup started. It is set only while the cluster is being
	// deleted, no member exists, and its StatefulSet creates none. Members that start later change the StatefulSet and
	// with it this value: then spec.deletion.volumes deletes no volume because of this backup. Default: empty.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=128
	Fence string `json:"fence,omitempty"`

	// engine is the DatabaseEngine of the cluster when the first Job was created.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=253
	Engine string `json:"engine,omitempty"`

	// image is the image of the cluster when the first Job was created.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"`

	// members is how many members the backup holds the data of.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Members int32 `json:"members,omitempty"`

	// startTime is when the first byte was asked for.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the backup was complete.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// duration is how long it took, for people.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Duration string `json:"duration,omitempty"`

	// bytes is how much the database gave, in bytes before compression; so far, while the backup runs.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Bytes int64 `json:"bytes,omitempty"`

	// storedBytes is how much was written to the destination, in bytes.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	StoredBytes int64 `json:"storedBytes,omitempty"`

	// size is bytes in a form for people, for example 1.2 GiB.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Size string `json:"size,omitempty"`

	// rate is how fast it goes, or went over all, in a form for people, for example 85 MiB/s.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Rate string `json:"rate,omitempty"`

	// streams are the parts of the backup, one a member.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=ordinal
	// +kubebuilder:validation:MaxItems=16
	Streams []BackupStream `json:"streams,omitempty"`

	// verification is the last try to restore the backup into a throw-away copy.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Verification *BackupVerification `json:"verification,omitempty"`
}

// VerificationPhase says in one word how a verification went.
type VerificationPhase string

// Phases of a verification.
const (
	// VerificationRunning: the copy is being restored, or asked.
	VerificationRunning VerificationPhase = "Running"
	// VerificationSucceeded: the restored copy answered.
	VerificationSucceeded VerificationPhase = "Succeeded"
	// VerificationFailed: it could not be restored, or did not answer.
	VerificationFailed VerificationPhase = "Failed"
)

// BackupVerification is one try to restore a backup into a throw-away copy.
type BackupVerification struct {
	// request is the value of the annotation database.dbcluster.io/verify that asked for it.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Request string `json:"request,omitempty"`

	// phase is Running, Succeeded or Failed.
	// +optional
	// +kubebuilder:validation:Enum=Running;Succeeded;Failed
	Phase VerificationPhase `json:"phase,omitempty"`

	// message says what the copy answered, or why it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// startTime is when the verification began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// completionTime is when the verification ended.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// streams are the restored copies that were checked, one a member.
	// +optional
	// +listType=map
	// +listMapKey=ordinal
	// +kubebuilder:validation:MaxItems=16
	Streams []VerifiedStream `json:"streams,omitempty"`
}
