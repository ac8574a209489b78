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
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.location)",message="spec.bootstrap.fromBackup must have either name, the name of a DatabaseBackup, or location"
type BackupSource struct {
	// name is the name of a DatabaseBackup in the same namespace. Default: none; then location is required.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="name must be the name of a DatabaseBackup: lowercase letters, digits and '-'"
	Name string `json:"name,omitempty"`

	// location is the location of the backup, for a backup whose DatabaseBackup no longer exists. Its url is the
	// status.location of that DatabaseBackup.
	// +optional
	Location *BackupDestination `json:"location,omitempty"`

	// recoveryTarget is the moment after the backup whose data the cluster gets, by the archive beside the backup. The engine
	// needs the action recover. Default: the data of the backup.
	// +optional
	RecoveryTarget *RecoveryTarget `json:"recoveryTarget,omitempty"`
}

// RecoveryTarget is a moment in the archive of a cluster.
type RecoveryTarget struct {
	// time is the moment in RFC 3339 with its time zone, for example 2026-11-28T14:05:00Z: the cluster gets each commit until
	// then, and no later one. The restore fails if the archive does not have each commit until then, or if the backup ended
	// later. Default: the end of the archive.
	// +optional
	// +kubebuilder:validation:MinLength=20
	// +kubebuilder:validation:MaxLength=35
	// +kubebuilder:validation:XValidation:rule="self.matches('^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$') && timestamp(self) >= timestamp('1970-01-01T00:00:00Z')",message="time must be in RFC 3339 with a time zone, for example 2026-11-28T14:05:00Z"
	Time string `json:"time,omitempty"`
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

	// recoveredTo is the moment until which the restored data has each commit. It is empty without a recoveryTarget.
	// +optional
	RecoveredTo *metav1.Time `json:"recoveredTo,omitempty"`
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
