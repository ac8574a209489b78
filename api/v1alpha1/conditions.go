/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// Condition types of a DatabaseCluster.
const (
	// ConditionReady is True when the cluster is as its spec says: available, settled, nothing stalled.
	ConditionReady = "Ready"
	// ConditionAvailable is True when every member that the spec asks for is ready.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while the operator or Kubernetes moves the cluster towards its spec.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is True when a member is broken; the message names the pod and the cause.
	ConditionDegraded = "Degraded"
	// ConditionStalled is True when nothing moves until a human acts; the message says what to do.
	ConditionStalled = "Stalled"
	// ConditionUpdateAvailable is True while the operator would make the pods otherwise than they were made
	// by an earlier version of it. Nothing is restarted for that until the spec changes or somebody asks.
	ConditionUpdateAvailable = "UpdateAvailable"
	// ConditionStorageResizing is True while a volume does not have the size that the spec asks for.
	ConditionStorageResizing = "StorageResizing"
	// ConditionPaused is True while spec.paused keeps the operator from changing anything.
	ConditionPaused = "Paused"
	// ConditionHibernated is True when spec.hibernated has stopped every member.
	ConditionHibernated = "Hibernated"
	// ConditionBackupHealthy is True when the newest complete backup is not older than spec.backup.maxAge, every
	// schedule can be read, and, without a maxAge, the last backup succeeded.
	ConditionBackupHealthy = "BackupHealthy"
	// ConditionBackupVerified is True when the last restore of a backup into a throw-away copy answered.
	ConditionBackupVerified = "BackupVerified"
	// ConditionProtectionEnforced is True when the API server refuses to delete the cluster, as
	// spec.deletion.protection asks.
	ConditionProtectionEnforced = "ProtectionEnforced"
	// ConditionVerified of a DatabaseBackup is True when its restore into a throw-away copy answered.
	ConditionVerified = "Verified"
	// ConditionAccepted of a DatabaseEngine is True when the operator can run clusters by it.
	ConditionAccepted = "Accepted"
	// ConditionDeletionBlocked is True when a deletion waits for a human; it exists only during a deletion.
	ConditionDeletionBlocked = "DeletionBlocked"
)

// ClusterConditions are the condition types that the operator sets on a DatabaseCluster.
var ClusterConditions = []string{
	ConditionReady, ConditionAvailable, ConditionProgressing, ConditionDegraded, ConditionStalled, ConditionUpdateAvailable,
	ConditionStorageResizing, ConditionPaused, ConditionHibernated, ConditionBackupHealthy, ConditionBackupVerified,
	ConditionProtectionEnforced, ConditionDeletionBlocked,
}

// Reasons of ConditionReady.
const (
	// ReasonReady: the cluster is as its spec says.
	ReasonReady = "Ready"
	// ReasonNotReady: another condition, named in the message, says why not.
	ReasonNotReady = "NotReady"
)

// Reasons of ConditionAvailable.
const (
	// ReasonAllReplicasReady: every member is ready.
	ReasonAllReplicasReady = "AllReplicasReady"
	// ReasonReplicasNotReady: some or all members are not ready.
	ReasonReplicasNotReady = "ReplicasNotReady"
	// ReasonCreating: the members do not exist yet.
	ReasonCreating = "Creating"
	// ReasonHibernated: the members were stopped, as the spec asks; also of Ready and Hibernated.
	ReasonHibernated = "Hibernated"
)

// Reasons of ConditionProgressing.
const (
	// ReasonSettled: nothing is left to do.
	ReasonSettled = "Settled"
	// ReasonApplying: the cluster's objects are being brought in line with the spec.
	ReasonApplying = "Applying"
	// ReasonScaling: members are being added or removed.
	ReasonScaling = "Scaling"
	// ReasonRollingOut: members are being restarted one by one to take a change.
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutPaused: members are outdated, and spec.update.paused keeps them so.
	ReasonRolloutPaused = "RolloutPaused"
	// ReasonWaitingForUser: members are outdated, and spec.update.type leaves their restart to the user.
	ReasonWaitingForUser = "WaitingForUser"
	// ReasonWaitingForMembers: members start or stop.
	ReasonWaitingForMembers = "WaitingForMembers"
	// ReasonWaitingForVolume: a PersistentVolumeClaim is being deleted, and its name is not free yet.
	ReasonWaitingForVolume = "WaitingForVolume"
	// ReasonWaitingForReference: something that the spec names does not exist or does not fit; Stalled says what.
	ReasonWaitingForReference = "WaitingForReference"
	// ReasonWaitingForFormer: objects of a former cluster of the same name are still being removed.
	ReasonWaitingForFormer = "WaitingForFormer"
	// ReasonRestoring: a backup is being restored into the volumes.
	ReasonRestoring = "Restoring"
	// ReasonRestoreRetrying: an attempt to restore failed; it is repeated until the deadline.
	ReasonRestoreRetrying = "RestoreRetrying"
	// ReasonAdoptingVolumes: volumes that an earlier cluster of the same name left are being taken over.
	ReasonAdoptingVolumes = "AdoptingVolumes"
	// ReasonHibernating: the members are being stopped, one by one; also of Available and Hibernated.
	ReasonHibernating = "Hibernating"
	// ReasonResizingStorage: the volumes are growing.
	ReasonResizingStorage = "ResizingStorage"
	// ReasonPaused: something is to be done, and spec.paused keeps it undone; also of Paused.
	ReasonPaused = "Paused"
)

// Reasons of ConditionDegraded.
const (
	// ReasonMembersHealthy: no member is known to be broken.
	ReasonMembersHealthy = "MembersHealthy"
	// ReasonMemberFailing: a member cannot start or cannot be scheduled.
	ReasonMemberFailing = "MemberFailing"
)

// Reasons of ConditionStalled.
const (
	// ReasonNotStalled: nothing waits for a human.
	ReasonNotStalled = "NotStalled"
	// ReasonNameConflict: an object of somebody else bears a name that the cluster needs.
	ReasonNameConflict = "NameConflict"
	// ReasonRefused: the API server refuses what the spec leads to.
	ReasonRefused = "Refused"
	// ReasonReferenceMissing: a Secret or ConfigMap that the spec names does not exist.
	ReasonReferenceMissing = "ReferenceMissing"
	// ReasonEngineMissing: the DatabaseEngine that the spec names does not exist.
	ReasonEngineMissing = "EngineMissing"
	// ReasonEngineInvalid: the DatabaseEngine that the spec names is declared wrongly; also of its Accepted.
	ReasonEngineInvalid = "EngineInvalid"
	// ReasonInvalidParameter: a parameter is not one that the engine offers, or has a value that it does not take.
	ReasonInvalidParameter = "InvalidParameter"
	// ReasonActionMissing: the spec needs an action that the engine does not offer, such as backup.
	ReasonActionMissing = "ActionMissing"
	// ReasonSecretIncomplete: spec.secretName is not set, or its Secret lacks a key that the engine needs.
	ReasonSecretIncomplete = "SecretIncomplete"
	// ReasonRestoreFailed: the backup of spec.bootstrap.fromBackup could not be restored.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonJobBlocked: no pod of a Job that the operator created can start, or its attempts fail, until a human corrects
	// something.
	ReasonJobBlocked = "JobBlocked"
	// ReasonVolumesKept: volumes of an earlier cluster of the same name are in the way.
	ReasonVolumesKept = "VolumesKept"
	// ReasonResizeInfeasible: a volume cannot get the size that the spec asks for; also of StorageResizing.
	ReasonResizeInfeasible = "ResizeInfeasible"
)

// Reasons of the conditions that appear where they apply.
const (
	// ReasonNewerTemplate: this version of the operator would make the pods otherwise.
	ReasonNewerTemplate = "NewerTemplate"
	// ReasonUpToDate: the pods are made as this version of the operator would make them.
	ReasonUpToDate = "UpToDate"
	// ReasonResizing: a volume grows.
	ReasonResizing = "Resizing"
	// ReasonResized: every volume has the size that the spec asks for.
	ReasonResized = "Resized"
	// ReasonNotPaused: the operator does its work.
	ReasonNotPaused = "NotPaused"
	// ReasonRunning: the members are not hibernated.
	ReasonRunning = "Running"
)

// Reasons of ConditionDeletionBlocked, and of the other conditions while a cluster is being deleted.
const (
	// ReasonDeleting: the deletion goes on.
	ReasonDeleting = "Deleting"
	// ReasonHookRunning: a deletion hook runs.
	ReasonHookRunning = "HookRunning"
	// ReasonHookWaiting: a deletion hook waits for what only a human can bring.
	ReasonHookWaiting = "HookWaiting"
	// ReasonHookFailed: a deletion hook has failed.
	ReasonHookFailed = "HookFailed"
	// ReasonStopping: the members stop one by one.
	ReasonStopping = "Stopping"
	// ReasonProtected: the cluster was deleted although spec.deletion.protection is true; also of Stalled.
	ReasonProtected = "Protected"
	// ReasonDeletionError: the API server refuses a step of the deletion.
	ReasonDeletionError = "DeletionError"
)

// Reasons of ConditionBackupHealthy, ConditionBackupVerified, ConditionVerified and ConditionProtectionEnforced.
const (
	// ReasonBackupFresh: the newest complete backup is young enough.
	ReasonBackupFresh = "BackupFresh"
	// ReasonBackupOverdue: the newest complete backup is too old, or there is none.
	ReasonBackupOverdue = "BackupOverdue"
	// ReasonBackupFailed: the last backup failed; also of a DatabaseBackup's Ready and Stalled.
	ReasonBackupFailed = "BackupFailed"
	// ReasonNoBackup: there is no complete backup yet.
	ReasonNoBackup = "NoBackup"
	// ReasonScheduleInvalid: a schedule cannot be read.
	ReasonScheduleInvalid = "ScheduleInvalid"
	// ReasonBackupNameTaken: a DatabaseBackup that a schedule did not create has the name of the one that is due.
	ReasonBackupNameTaken = "BackupNameTaken"
	// ReasonVerified: the restored copy answered.
	ReasonVerified = "Verified"
	// ReasonVerificationFailed: the backup could not be restored, or the copy did not answer.
	ReasonVerificationFailed = "VerificationFailed"
	// ReasonVerificationRunning: a verification runs.
	ReasonVerificationRunning = "VerificationRunning"
	// ReasonNotVerified: no backup has been verified yet.
	ReasonNotVerified = "NotVerified"
	// ReasonPoliciesInPlace: the admission policies exist.
	ReasonPoliciesInPlace = "PoliciesInPlace"
	// ReasonPoliciesMissing: the admission policies do not exist, or could not be read.
	ReasonPoliciesMissing = "PoliciesMissing"
	// ReasonNotProtected: spec.deletion.protection does not ask for it any more.
	ReasonNotProtected = "NotProtected"
)

// Reasons of a DatabaseBackup's Ready and Stalled.
const (
	// ReasonBackupCompleted: everything is at the destination.
	ReasonBackupCompleted = "BackupCompleted"
	// ReasonBackupPending: the backup has not started.
	ReasonBackupPending = "BackupPending"
	// ReasonBackupRunning: data is being written.
	ReasonBackupRunning = "BackupRunning"
)

// Reasons of a DatabaseEngine's Accepted; False has ReasonEngineInvalid.
const (
	// ReasonAccepted: clusters can be run by the engine.
	ReasonAccepted = "Accepted"
)
