/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterBootstrap is the initial data of a new cluster. The operator reads it until it first creates the members.
type ClusterBootstrap struct {
	// database is the name of the database that the engine creates for applications. It cannot be changed.
	// Default: the engine's spec.bootstrap.database.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z_][-a-zA-Z0-9_]*$')",message="spec.bootstrap.database must start with a letter or '_' and have letters, digits, '-' and '_' only"
	Database string `json:"database,omitempty"`

	// owner is the name of the owner of that database, whose credentials applications use. It cannot be changed.
	// Default: the engine's spec.bootstrap.owner.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z_][-a-zA-Z0-9_]*$')",message="spec.bootstrap.owner must start with a letter or '_' and have letters, digits, '-' and '_' only"
	Owner string `json:"owner,omitempty"`

	// fromBackup is the backup that the operator restores into the empty volumes before the members start. Default:
	// empty volumes, or the retained volumes of a previous cluster of the same name.
	// +optional
	FromBackup *BackupSource `json:"fromBackup,omitempty"`
}

// BackupSource is a backup to restore.
//
// +kubebuilder:validation:XValidation:rule="(has(self.name) ? 1 : 0) + (has(self.location) ? 1 : 0) + (has(self.newest) ? 1 : 0) == 1",message="spec.bootstrap.fromBackup must have one of name, the name of a DatabaseBackup, location, and newest"
// +kubebuilder:validation:XValidation:rule="!has(self.newest) || !has(self.recoveryTarget) || !has(self.recoveryTarget.name)",message="spec.bootstrap.fromBackup.newest has no recoveryTarget.name: the newest backup may be later than that point. Set name or location instead"
// +kubebuilder:validation:XValidation:rule="!has(self.ifMissing) || has(self.newest)",message="spec.bootstrap.fromBackup.ifMissing is only for newest"
type BackupSource struct {
	// name is the name of a DatabaseBackup in the same namespace. Default: none; then location or newest is required.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="name must be the name of a DatabaseBackup: lowercase letters, digits and '-'"
	Name string `json:"name,omitempty"`

	// location is the location of the backup, for a backup whose DatabaseBackup no longer exists. Its url is the
	// status.location of that DatabaseBackup.
	// +optional
	Location *BackupDestination `json:"location,omitempty"`

	// newest is the newest complete backup of a cluster at a destination, whether DatabaseBackups exist or not. With recoveryTarget.time, it
	// is the newest one that was complete before that time. A Job looks for it once, before the operator creates the first volume.
	// status.bootstrap has the result, which no later backup changes.
	// +optional
	Newest *NewestBackup `json:"newest,omitempty"`

	// ifMissing is what happens if newest finds no backup. Fail: the cluster waits, and is Stalled. Create: it starts with an empty
	// database. The operator creates it only after a Job has listed the folder of the cluster, and the folder has no object at all. If the
	// destination cannot be read, or the folder has another object, the cluster waits. The operator cannot distinguish a wrong destination
	// or name from a cluster without a backup: check status.bootstrap. Default: Fail.
	// +optional
	// +kubebuilder:validation:Enum=Fail;Create
	IfMissing MissingBackupPolicy `json:"ifMissing,omitempty"`

	// recoveryTarget is the moment after the backup whose data the cluster gets, by the archive beside the backup. The engine
	// needs the action recover. Default: the data of the backup.
	// +optional
	RecoveryTarget *RecoveryTarget `json:"recoveryTarget,omitempty"`
}

// MissingBackupPolicy is what happens if there is no backup.
type MissingBackupPolicy string

const (
	// IfMissingFail means that the cluster waits for a backup.
	IfMissingFail MissingBackupPolicy = "Fail"
	// IfMissingCreate means that the cluster starts with an empty database.
	IfMissingCreate MissingBackupPolicy = "Create"
)

// NewestBackup is the newest complete backup of a cluster. Its folder is DESTINATION/NAMESPACE/NAME.
type NewestBackup struct {
	// destination is what spec.backup.destination of that cluster was.
	// +required
	Destination BackupDestination `json:"destination"`

	// clusterNamespace is the namespace of the cluster that wrote the backup. Default: the namespace of this cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="clusterNamespace must be the name of a namespace: lowercase letters, digits and '-'"
	ClusterNamespace string `json:"clusterNamespace,omitempty"`

	// clusterName is the name of the cluster that wrote the backup. Default: the name of this cluster.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="clusterName must be the name of a DatabaseCluster: lowercase letters, digits and '-', with a letter first"
	ClusterName string `json:"clusterName,omitempty"`
}

// BootstrapDecision is how a cluster gets its first data.
type BootstrapDecision string

const (
	// BootstrapRestore means that the cluster starts with a backup.
	BootstrapRestore BootstrapDecision = "Restore"
	// BootstrapCreate means that the cluster starts with an empty database, because there was no backup.
	BootstrapCreate BootstrapDecision = "Create"
)

// ClusterBootstrapStatus is what the operator has decided by spec.bootstrap.fromBackup.newest. It decides once, before it creates the first
// volume. If you correct spec.bootstrap.fromBackup before the members start, it decides again.
type ClusterBootstrapStatus struct {
	// decision is Restore or Create. Restore: the cluster starts with the backup at location. Create: the folder was empty, so the cluster
	// starts with an empty database.
	// +required
	// +kubebuilder:validation:Enum=Restore;Create
	Decision BootstrapDecision `json:"decision"`

	// folder is the URL of the folder in which a Job looked for backups.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	Folder string `json:"folder"`

	// location is the URL of the backup. It is empty with Create.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Location string `json:"location,omitempty"`

	// engine is the engine of the backup.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Engine string `json:"engine,omitempty"`

	// image is the image of the database that wrote the backup.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Image string `json:"image,omitempty"`

	// replicas is how many members have data in the backup.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// completionTime is when the backup was complete.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// decidedAt is when the operator decided.
	// +required
	DecidedAt metav1.Time `json:"decidedAt"`

	// search identifies newest and recoveryTarget, for which the operator decided.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Search string `json:"search"`
}

// RecoveryTarget is a moment in the archive of a cluster: a time, a named point, or without both the end of the archive.
//
// +kubebuilder:validation:XValidation:rule="!has(self.time) || !has(self.name)",message="recoveryTarget must not have both time and name"
type RecoveryTarget struct {
	// time is the moment in RFC 3339 with its time zone, for example 2026-11-28T14:05:00Z: the cluster gets each commit until
	// then, and no later one. The restore fails if the archive does not have each commit until then, or if the backup ended
	// later. Default: name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=35
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') && timestamp(self) >= timestamp('1970-01-01T00:00:00Z')",message="time must be in RFC 3339 with a time zone, for example 2026-11-28T14:05:00Z"
	Time string `json:"time,omitempty"`

	// name is the name of a point that was created in the database after the backup, for example by pg_create_restore_point. The cluster
	// gets each commit before it, and no later one. Of several points with this name, it is the first one since the backup began.
	// The restore fails if the archive does not have it, or if it was created before the backup ended. The engine needs Name in
	// actions.recover.targets. Default: time.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="name must not have control characters"
	// +kubebuilder:validation:XValidation:rule="bytes(self).size() <= 63",message="name must have at most 63 bytes in UTF-8"
	Name string `json:"name,omitempty"`
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

	// recoveredTo is the moment until which the restored data has each commit. It is empty without a recoveryTarget. For
	// recoveryTarget.name, it is the time at which the point was created.
	// +optional
	RecoveredTo *metav1.Time `json:"recoveredTo,omitempty"`

	// lastCommitTime is the time of the last commit in the restored data. It is empty without a recoveryTarget, and if the engine does
	// not report it.
	// +optional
	LastCommitTime *metav1.Time `json:"lastCommitTime,omitempty"`
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
