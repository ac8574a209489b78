/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseClusterStatus is what the operator last saw.
type DatabaseClusterStatus struct {
	// conditions are the state of the cluster. Always there: Ready, Available, Progressing, Degraded and
	// Stalled. The others appear when they apply, for example BackupHealthy to a cluster with spec.backup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status,xDescriptors="urn:alm:descriptor:io.kubernetes.conditions"
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the cluster's objects express.
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

	// updatedReplicas is the number of members that run the current template.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// updateRevision is the revision of the current template, as the label controller-revision-hash
	// of the pods made from it has it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=253
	UpdateRevision string `json:"updateRevision,omitempty"`

	// members are the pods of the cluster, by ordinal.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=pod
	// +kubebuilder:validation:MaxItems=64
	Members []MemberStatus `json:"members,omitempty"`

	// storage tells how large the volumes are. Left out for ephemeral ones.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Storage *StorageStatus `json:"storage,omitempty"`

	// backup tells how the cluster's backups stand. Left out where the spec asks for none.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Backup *ClusterBackupStatus `json:"backup,omitempty"`

	// restore tells how far the restore of spec.bootstrap.fromBackup is, or how it went.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Restore *RestoreStatus `json:"restore,omitempty"`

	// hooks tell how the deletion hooks went, in their order; only while the cluster is being deleted.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Hooks []HookStatus `json:"hooks,omitempty"`

	// selector is the label selector of the members, as text, for the scale subresource.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=512
	Selector string `json:"selector,omitempty"`
}

// ClusterBackupStatus tells how the backups of a cluster stand.
type ClusterBackupStatus struct {
	// lastCompleted is the newest complete backup that has no destination of its own.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	LastCompleted string `json:"lastCompleted,omitempty"`

	// lastCompletionTime is when that was complete.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`

	// lastCompletedBytes is how much the database gave for it, in bytes before compression.
	// +optional
	LastCompletedBytes int64 `json:"lastCompletedBytes,omitempty"`

	// lastVerified is the newest backup whose restore was tried and succeeded.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	LastVerified string `json:"lastVerified,omitempty"`

	// lastVerificationTime is when that succeeded.
	// +optional
	LastVerificationTime *metav1.Time `json:"lastVerificationTime,omitempty"`

	// nextTime is when the next backup is due by the schedules.
	// +optional
	NextTime *metav1.Time `json:"nextTime,omitempty"`
}

// RestoreStatus tells how far a restore is.
type RestoreStatus struct {
	// from is the location of the backup.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	From string `json:"from,omitempty"`

	// phase is Running, Completed or Failed.
	// +optional
	// +kubebuilder:validation:Enum=Running;Completed;Failed
	Phase RestorePhase `json:"phase,omitempty"`

	// message says how far it is, what it waits for, or why it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// bytes is how much of the backup the engine's action has read so far, in bytes, of all members. Once the restore
	// is complete, it may be below totalBytes by the padding of an archive.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`

	// totalBytes is how much the backup holds, in bytes; left out while that is not known.
	// +optional
	TotalBytes int64 `json:"totalBytes,omitempty"`
}

// RestorePhase says in one word how far a restore is.
type RestorePhase string

// Phases of a restore.
const (
	// RestoreRunning: the volumes are being filled, or a Job that is to fill them cannot start yet.
	RestoreRunning RestorePhase = "Running"
	// RestoreCompleted: the members were started with what was restored.
	RestoreCompleted RestorePhase = "Completed"
	// RestoreFailed: it waits for a human.
	RestoreFailed RestorePhase = "Failed"
)

// HookStatus tells how a deletion hook went.
type HookStatus struct {
	// name is that of the hook in spec.deletion.hooks.
	// +required
	// +kubebuilder:validation:MaxLength=12
	Name string `json:"name"`

	// phase is Pending, Running, Succeeded, Failed or Skipped.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed;Skipped
	Phase HookPhase `json:"phase,omitempty"`

	// message says what it did, or why it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// stopped are the pods that a hook of type Shutdown has stopped, and how they ended.
	// +optional
	// +listType=map
	// +listMapKey=pod
	// +kubebuilder:validation:MaxItems=64
	Stopped []StoppedMember `json:"stopped,omitempty"`
}

// HookPhase says in one word how a deletion hook went.
type HookPhase string

// Phases of a deletion hook.
const (
	// HookPending: its turn has not come.
	HookPending HookPhase = "Pending"
	// HookRunning: it runs.
	HookRunning HookPhase = "Running"
	// HookSucceeded: it did what it should.
	HookSucceeded HookPhase = "Succeeded"
	// HookFailed: it did not.
	HookFailed HookPhase = "Failed"
	// HookSkipped: the deletion went on without it.
	HookSkipped HookPhase = "Skipped"
)

// StoppedMember tells how a member ended.
type StoppedMember struct {
	// pod is the name of the member's pod.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Pod string `json:"pod"`

	// exitCode is what the database exited with; left out where it is not known.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// MemberReason says in one word how a member is.
type MemberReason string

const (
	// MemberReady says that the member is ready.
	MemberReady MemberReason = "Ready"
	// MemberStarting says that the member is not ready, and nothing is known to keep it from that.
	MemberStarting MemberReason = "Starting"
	// MemberFailing says that the member cannot start, or keeps ending; the message says why.
	MemberFailing MemberReason = "Failing"
	// MemberStopping says that the member is on its way out.
	MemberStopping MemberReason = "Stopping"
)

// MemberStatus is one member as the operator last saw it.
type MemberStatus struct {
	// pod is the name of the member's pod.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Pod string `json:"pod"`

	// ordinal is the member's number, from 0.
	// +optional
	Ordinal int32 `json:"ordinal"`

	// revision is the revision of the template that the pod was made from, its label controller-revision-hash.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Revision string `json:"revision,omitempty"`

	// outdated tells that the pod does not run the current template.
	// +optional
	Outdated bool `json:"outdated,omitempty"`

	// ready tells whether the member is ready.
	// +optional
	Ready bool `json:"ready"`

	// reason is how the member is: Ready, Starting, Failing or Stopping.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason MemberReason `json:"reason,omitempty"`

	// message says why a member is failing.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// volume is the member's data volume. Left out where there is none.
	// +optional
	Volume *VolumeStatus `json:"volume,omitempty"`
}

// VolumeStatus is a data volume as the operator last saw it.
type VolumeStatus struct {
	// claim is the name of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`

	// requested is the size that the claim asks for, for example 10Gi.
	// +optional
	Requested resource.Quantity `json:"requested,omitzero"`

	// capacity is the size that the volume has, for example 10Gi. Left out while it is not bound.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}

// StorageStatus tells how large the volumes are.
type StorageStatus struct {
	// requested is the largest size that a member's claim asks for, for example 10Gi.
	// +required
	Requested resource.Quantity `json:"requested"`

	// capacity is the size of the smallest volume, for example 10Gi. Left out while none is bound.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}
