/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterBackup configures the backups of a cluster: destination, schedules, retention and verification.
type ClusterBackup struct {
	// destination is where the operator stores backups: an S3 bucket or a directory of a volume.
	// +required
	Destination BackupDestination `json:"destination"`

	// schedules create backups at set times. Default: none; you create DatabaseBackups yourself.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Schedules []BackupSchedule `json:"schedules,omitempty"`

	// unhealthyAfter is the age of the newest complete backup at which the condition BackupHealthy becomes False, for
	// example 26h. Backups with a destination of their own do not count. Default: BackupHealthy reports only whether
	// the last backup succeeded.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?h)?([0-9]{1,6}([.][0-9]{1,9})?m)?([0-9]{1,6}([.][0-9]{1,9})?s)?$') && self != '' && duration(self) >= duration('1m')",message="spec.backup.unhealthyAfter must be a duration of at least a minute in hours, minutes and seconds, for example 26h"
	UnhealthyAfter *metav1.Duration `json:"unhealthyAfter,omitempty"`

	// deadlineSeconds is the time limit of each member's backup with its retries, in seconds, 1 to 604800.
	// Default: 43200, half a day.
	// +optional
	// +kubebuilder:default=43200
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds int64 `json:"deadlineSeconds,omitempty"`

	// resources are the CPU and memory of the Jobs of backups, restores, verifications, and changes of passwords and
	// certificates. They override spec.helpers.resources. Default: requests of 100m CPU and 256Mi of memory, limits like
	// spec.resources and at most 2 CPUs and 1Gi. An action that mounts a member's volume has at least the resources of the
	// member, and no limit where the member has no limit.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// compression sets the level and the threads of zstd. Backups of each level can be restored. Default: level 3.
	// +optional
	Compression BackupCompression `json:"compression,omitzero"`

	// unchangedData is Store or Reuse. With Reuse, a backup stores only the data that has changed since the last one. For the rest, it refers
	// to older backups of the cluster at the same destination. You restore and delete each backup as if it had all its data. The deletion
	// of a backup leaves the data that others need, so never delete objects by hand. With Store, each backup has all its data.
	// Default: Store.
	// +optional
	// +kubebuilder:validation:Enum=Store;Reuse
	UnchangedData UnchangedData `json:"unchangedData,omitempty"`

	// verification restores the newest backup into a temporary copy and checks it there. Default: the operator does
	// not verify backups.
	// +optional
	Verification *BackupVerificationSchedule `json:"verification,omitempty"`

	// archive stores the log of the database at the destination continuously. A new cluster can then have the data of any
	// second after a backup. The engine needs the action archive. Default: no archive.
	// +optional
	Archive *ClusterArchive `json:"archive,omitempty"`
}

// ClusterArchive configures the continuous archive of a cluster. A pod beside the members receives the log, and the
// database keeps what the destination does not have yet.
type ClusterArchive struct {
	// maxLagSeconds is the time in seconds after which the log that the pod has received is stored. If all volumes are lost, the
	// commits of about this time are lost. A lower value needs more requests to the destination. From 1 to 3600. Default: 5.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	MaxLagSeconds int32 `json:"maxLagSeconds,omitempty"`

	// windowHours is the number of hours until now of which every moment remains recoverable. The operator deletes older log, and no
	// schedule deletes the backups in status.recovery.backups, which the window needs. Without it, log from before the oldest
	// backup is deleted. From 1 to 87600. Default: none.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=87600
	WindowHours int32 `json:"windowHours,omitempty"`

	// resources are the CPU and memory of the pod. They override spec.helpers.resources. Default: requests of 50m CPU and
	// 192Mi of memory, limits of 1 CPU and 512Mi.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

// UnchangedData is what a backup does with data that has not changed since the last one.
type UnchangedData string

const (
	// StoreUnchanged stores it again.
	StoreUnchanged UnchangedData = "Store"
	// ReuseUnchanged refers to the backup that has it.
	ReuseUnchanged UnchangedData = "Reuse"
)

// BackupCompression sets how much CPU zstd uses for a backup.
type BackupCompression struct {
	// level is the level of zstd, 1 to 9. With a higher level, backups are smaller and take longer. Levels 1 and 2 are the
	// same, and so are 3 to 5, and 6 to 9. A change applies to the next backup. Default: 3, as zstd.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Level int32 `json:"level,omitempty"`

	// threads is the maximum number of threads that compress a backup, 1 to 4. The CPU limit of the pod also limits the
	// number: the limit is rounded up, and counts as 2 if it is lower. A change applies to the next backup. Default: 4,
	// which the default CPU limit of 2 reduces to 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4
	Threads int32 `json:"threads,omitempty"`
}

// BackupSchedule creates backups at set times. If the operator could not create a backup at its time, for example
// because it was down, it creates one backup later. It creates none while a scheduled backup of the cluster is
// unfinished.
type BackupSchedule struct {
	// name is the name of the schedule, unique in the cluster, at most 11 characters. The names of its backups contain
	// it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=11
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.backup.schedules[].name must be a DNS label: lowercase letters, digits and '-'"
	Name string `json:"name"`

	// schedule is the time in cron format: minute, hour, day, month, weekday, for example "30 3 * * *"; or @hourly,
	// @daily, @weekly, @monthly.
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[^\\\\s=@]+( +[^\\\\s=@]+){4})$')",message="spec.backup.schedules[].schedule must have five fields: minute, hour, day, month, weekday, for example \"30 3 * * *\"; set the time zone in timeZone"
	Schedule string `json:"schedule"`

	// timeZone is the name of a time zone, for example Europe/Berlin. Default: UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][-A-Za-z0-9_+/]*$')",message="timeZone must be the name of a time zone, for example Europe/Berlin"
	TimeZone string `json:"timeZone,omitempty"`

	// suspend stops the schedule: the operator creates no backups for it and deletes none. Default: false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`

	// retention limits how many backups of this schedule the operator keeps, and for how long. Default: no limit.
	// +optional
	Retention *BackupRetention `json:"retention,omitempty"`
}

// BackupRetention limits the backups of a schedule. The operator deletes a backup with its data when neither count nor
// period keeps it. It never deletes the newest complete backup.
//
// +kubebuilder:validation:XValidation:rule="has(self.count) || has(self.period)",message="spec.backup.schedules[].retention must have count, period or both"
type BackupRetention struct {
	// count is the number of complete backups to keep, 1 to 1000. If period is set too, the operator keeps a backup
	// while either of them keeps it. Default: no limit.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Count *int32 `json:"count,omitempty"`

	// period is the time for which complete backups are kept, in hours, minutes and seconds, at least 1m, for example
	// 720h, which is 30 days. Default: no limit.
	// +optional
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,6}([.][0-9]{1,9})?h)?([0-9]{1,6}([.][0-9]{1,9})?m)?([0-9]{1,6}([.][0-9]{1,9})?s)?$') && self != '' && duration(self) >= duration('1m')",message="spec.backup.schedules[].retention.period must be a duration of at least a minute in hours, minutes and seconds, for example 720h"
	Period *metav1.Duration `json:"period,omitempty"`
}

// BackupVerificationSchedule verifies the newest complete backup at set times. The operator restores it into a temporary
// copy and starts the database there, which must then pass the engine's probe.
type BackupVerificationSchedule struct {
	// schedule is the time in cron format, as in schedules.
	// +required
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.matches('^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|[^\\\\s=@]+( +[^\\\\s=@]+){4})$')",message="spec.backup.verification.schedule must have five fields: minute, hour, day, month, weekday, for example \"0 5 * * 0\"; set the time zone in timeZone"
	Schedule string `json:"schedule"`

	// timeZone is the name of a time zone, for example Europe/Berlin. Default: UTC.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][-A-Za-z0-9_+/]*$')",message="timeZone must be the name of a time zone, for example Europe/Berlin"
	TimeZone string `json:"timeZone,omitempty"`

	// command replaces the engine's probe. It runs against the database at DBC_MEMBER=localhost, again and again until
	// it exits with 0, for at most a quarter of deadlineSeconds. Default: the engine's probe.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// recover also replays the archive into the copy, before the probe and the command. Newest: to its end. Random: to a random
	// second after the end of the backup. Alternate: Newest, and after each success the other one. Random recovers to the end if the
	// archive has less than a minute after the backup. A backup that the archive does not cover is restored only, and
	// status.verification.recovery.message of the DatabaseBackup has the reason. The engine needs the action recover. Default: the
	// copy has the data of the backup.
	// +optional
	// +kubebuilder:validation:Enum=Newest;Random;Alternate
	Recover VerificationRecovery `json:"recover,omitempty"`

	// deadlineSeconds is the time limit for the restore, the recovery and the probe of each member, in seconds, 1 to
	// 604800. The probe has at most a quarter of it. Default: 43200, half a day.
	// +optional
	// +kubebuilder:default=43200
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds int64 `json:"deadlineSeconds,omitempty"`
}

// VerificationRecovery is a moment in the archive of a cluster to which verifications recover.
type VerificationRecovery string

const (
	// RecoverNewest is the end of the archive.
	RecoverNewest VerificationRecovery = "Newest"
	// RecoverRandom is a random second between the end of the backup and that of the archive.
	RecoverRandom VerificationRecovery = "Random"
	// RecoverAlternate is the one of the two to which the last verification did not recover.
	RecoverAlternate VerificationRecovery = "Alternate"
)

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

	// lastRecoveryTime is the time at which the last verification with a recovery succeeded.
	// +optional
	LastRecoveryTime *metav1.Time `json:"lastRecoveryTime,omitempty"`

	// lastRecoveryTarget is Newest or Random: to which moment of the archive that verification recovered.
	// +optional
	// +kubebuilder:validation:Enum=Newest;Random
	LastRecoveryTarget VerificationRecovery `json:"lastRecoveryTarget,omitempty"`

	// lastRecoveryDurationSeconds is how long the restore and the recovery of that verification took, in seconds.
	// +optional
	LastRecoveryDurationSeconds int64 `json:"lastRecoveryDurationSeconds,omitempty"`

	// lastRecoveryLagSeconds is by how much the archive was behind when the last recovery to its end began, in seconds. A loss of
	// all volumes at that time would have lost these commits.
	// +optional
	LastRecoveryLagSeconds *int64 `json:"lastRecoveryLagSeconds,omitempty"`

	// nextScheduleTime is the time of the next scheduled backup.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`
}
