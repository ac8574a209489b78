/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
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
	StatefulSet *WrittenStatefulSet `json:"statefulSet,omitempty"`

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

	// tls is the state of the certificate of the members. It is empty without spec.tls.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	TLS *ClusterTLSStatus `json:"tls,omitempty"`

	// restore is the progress or the result of the restore of spec.bootstrap.fromBackup.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Restore *ClusterRestoreStatus `json:"restore,omitempty"`

	// requests are the latest requests by annotations that the operator has accepted, completed or refused. A request is executed at
	// most once. One that a cluster has before its first status is refused.
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

// RequestStatus is the state of a request by an annotation.
type ClusterRequestStatus struct {
	// type is HandOver or Rebuild, for the annotations hand-over and rebuild.
	// +required
	// +kubebuilder:validation:Enum=HandOver;Rebuild
	Type ClusterRequestType `json:"type"`

	// request is the value of the annotation. If that has more than 253 characters, it is a hash of the value.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Request string `json:"request"`

	// state is Accepted, Completed or Refused. The operator executes an accepted request, and no other.
	// +required
	// +kubebuilder:validation:Enum=Accepted;Completed;Refused
	State ClusterRequestState `json:"state"`

	// message describes the result, or why the request was refused.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// claimUID is the UID of the claim that a request of type Rebuild deletes, or without which the member starts empty. The operator
	// deletes no other claim.
	// +optional
	// +kubebuilder:validation:MaxLength=36
	ClaimUID string `json:"claimUID,omitempty"` //nolint:tagliatelle // as Kubernetes spells it, for example podUID
}

// ClusterRequestType is the type of a request by an annotation.
type ClusterRequestType string

// Types of requests.
const (
	// RequestHandOver: the annotation hand-over names the pod that should become the primary.
	RequestHandOver ClusterRequestType = "HandOver"
	// RequestRebuild: the annotation rebuild names the pod whose volume is deleted.
	RequestRebuild ClusterRequestType = "Rebuild"
)

// ClusterRequestState is the state of a request by an annotation.
type ClusterRequestState string

// States of a request.
const (
	// RequestAccepted: the operator executes the request.
	RequestAccepted ClusterRequestState = "Accepted"
	// RequestCompleted: the request was executed. It is not repeated.
	RequestCompleted ClusterRequestState = "Completed"
	// RequestRefused: the request cannot be executed. The operator ignores it.
	RequestRefused ClusterRequestState = "Refused"
)

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

// WrittenStatefulSet identifies the spec of a StatefulSet.
type WrittenStatefulSet struct {
	// uid is the UID of the StatefulSet.
	// +kubebuilder:validation:MaxLength=36
	UID string `json:"uid"`

	// generation is the generation of its spec.
	Generation int64 `json:"generation"`

	// specHash is a hash of its spec without the number of members and the templates of claims.
	// +kubebuilder:validation:MaxLength=64
	SpecHash string `json:"specHash"`
}

// VolumeRecord identifies the claim with the data of a member.
type VolumeRecord struct {
	// claim is the name of the claim.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`

	// uid is the UID of the claim. A claim of the same name with another UID does not have the data.
	// +required
	// +kubebuilder:validation:MaxLength=36
	UID string `json:"uid"`
}

// ClusterBackupStatus is the state of the backups of a cluster.
type ClusterBackupStatus struct {
	// lastCompletedBackup is the name of the newest complete backup without a destination of its own.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	LastCompletedBackup string `json:"lastCompletedBackup,omitempty"`

	// lastCompletionTime is the time at which lastCompletedBackup was complete.
	// +optional
	LastCompletionTime *metav1.Time `json:"lastCompletionTime,omitempty"`

	// lastCompletedBytes is the size of lastCompletedBackup, in bytes before compression.
	// +optional
	LastCompletedBytes int64 `json:"lastCompletedBytes,omitempty"`

	// lastVerifiedBackup is the name of the newest backup whose verification succeeded.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	LastVerifiedBackup string `json:"lastVerifiedBackup,omitempty"`

	// lastVerificationTime is the time at which the verification of lastVerifiedBackup succeeded.
	// +optional
	LastVerificationTime *metav1.Time `json:"lastVerificationTime,omitempty"`

	// nextScheduleTime is the time of the next scheduled backup.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`
}

// ClusterRestoreStatus is the progress of a restore.
type ClusterRestoreStatus struct {
	// from is the location of the backup.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	From string `json:"from,omitempty"`

	// phase is Running, Completed or Failed.
	// +optional
	// +kubebuilder:validation:Enum=Running;Completed;Failed
	Phase ClusterRestorePhase `json:"phase,omitempty"`

	// message describes the progress, what the restore waits for, or why it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// bytes is how much of the backup the engine's restore action has read, of all members, in bytes. Once the restore
	// is complete, it can be lower than totalBytes by the padding of an archive.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`

	// totalBytes is the size of the backup, in bytes. It is empty while the size is unknown.
	// +optional
	TotalBytes int64 `json:"totalBytes,omitempty"`
}

// ClusterRestorePhase is the phase of a restore.
type ClusterRestorePhase string

// Phases of a restore.
const (
	// RestoreRunning: Jobs restore the volumes, or wait until they can start.
	RestoreRunning ClusterRestorePhase = "Running"
	// RestoreCompleted: the members have started with the restored data.
	RestoreCompleted ClusterRestorePhase = "Completed"
	// RestoreFailed: the restore failed and needs an action of the user.
	RestoreFailed ClusterRestorePhase = "Failed"
)

// HookStatus is the state of a deletion hook.
type HookStatus struct {
	// name is the name of the hook in spec.deletion.hooks.
	// +required
	// +kubebuilder:validation:MaxLength=12
	Name string `json:"name"`

	// phase is Pending, Running, Succeeded, Failed or Skipped.
	// +optional
	// +kubebuilder:validation:Enum=Pending;Running;Succeeded;Failed;Skipped
	Phase HookPhase `json:"phase,omitempty"`

	// message describes what the hook did, or why it failed.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// stopped are the pods that a hook of type Shutdown has stopped, and their exit codes.
	// +optional
	// +listType=map
	// +listMapKey=pod
	// +kubebuilder:validation:MaxItems=64
	Stopped []StoppedMember `json:"stopped,omitempty"`
}

// HookPhase is the phase of a deletion hook.
type HookPhase string

// Phases of a deletion hook.
const (
	// HookPending: a previous hook has not finished.
	HookPending HookPhase = "Pending"
	// HookRunning: the hook runs.
	HookRunning HookPhase = "Running"
	// HookSucceeded: the hook succeeded.
	HookSucceeded HookPhase = "Succeeded"
	// HookFailed: the hook failed.
	HookFailed HookPhase = "Failed"
	// HookSkipped: the deletion continued without the hook.
	HookSkipped HookPhase = "Skipped"
)

// StoppedMember is a member that a hook has stopped.
type StoppedMember struct {
	// pod is the name of the member's pod.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Pod string `json:"pod"`

	// exitCode is the exit code of the database. It is empty if it is unknown.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}

// ClusterStorageStatus is the size of the volumes.
type ClusterStorageStatus struct {
	// requested is the largest size in the specs of the claims, for example 10Gi.
	// +required
	Requested resource.Quantity `json:"requested"`

	// capacity is the size of the smallest volume, for example 10Gi. It is empty while no claim is bound.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}
