/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// Condition types of a DatabaseCluster.
const (
	// ConditionReady is True when the cluster matches its spec: available, up to date, not stalled.
	ConditionReady = "Ready"
	// ConditionAvailable is True when clients can use the database. All members of the spec are ready. With an engine of
	// the topology PrimaryReplica, one primary is ready. With Consensus, a majority of the members is.
	ConditionAvailable = "Available"
	// ConditionProgressing is True while the operator or Kubernetes changes the cluster toward its spec.
	ConditionProgressing = "Progressing"
	// ConditionDegraded is True when a member has failed. The message names the pod and the cause.
	ConditionDegraded = "Degraded"
	// ConditionStalled is True when the cluster needs an action of the user. The message describes it.
	ConditionStalled = "Stalled"
	// ConditionUpdateAvailable is True while this version of the operator would change the pod template. The members
	// keep running until the spec changes or the user requests the update.
	ConditionUpdateAvailable = "UpdateAvailable"
	// ConditionStorageResizing is True while a volume is smaller than spec.storage.size.
	ConditionStorageResizing = "StorageResizing"
	// ConditionDiskPressure is True while a volume fills and nothing has cured that yet. It is Unknown while the use of no volume is
	// known. It exists with spec.storage.autoGrow and spec.storage.usage.
	ConditionDiskPressure = "DiskPressure"
	// ConditionAutoResizeActive is True while the operator follows the VerticalPodAutoscaler of spec.autoResize. It is Unknown while
	// that recommends nothing. It exists with spec.autoResize, and after it is removed until the members have spec.resources again.
	ConditionAutoResizeActive = "AutoResizeActive"
	// ConditionPaused is True while spec.paused keeps the operator from changing anything.
	ConditionPaused = "Paused"
	// ConditionHibernated is True when spec.hibernated has stopped every member.
	ConditionHibernated = "Hibernated"
	// ConditionBackupHealthy is True when the newest complete backup is not older than spec.backup.unhealthyAfter, all
	// schedules are valid, and, without unhealthyAfter, the last backup succeeded. No DatabaseRestore has replaced the data since then.
	ConditionBackupHealthy = "BackupHealthy"
	// ConditionBackupVerified is True when the last verification of a backup succeeded.
	ConditionBackupVerified = "BackupVerified"
	// ConditionContinuousArchiving is True while the archive has the commits of the last minutes. It exists with
	// spec.backup.archive.
	ConditionContinuousArchiving = "ContinuousArchiving"
	// ConditionCredentialsRotated is True when the last requested rotation of credentials is in force.
	ConditionCredentialsRotated = "CredentialsRotated"
	// ConditionProtectionEnforced is True when spec.deletion.protection is set and the API server refuses to delete the
	// cluster.
	ConditionProtectionEnforced = "ProtectionEnforced"
	// ConditionTLSReady is True when spec.tls is set, and all members serve a valid certificate.
	ConditionTLSReady = "TLSReady"
	// ConditionMonitoringConfigured is True when spec.monitoring is in force: members serve metrics, or will after their next start, and
	// with the mode Prometheus the PodMonitor and the PrometheusRule exist. It exists with spec.monitoring.
	ConditionMonitoringConfigured = "MonitoringConfigured"
	// ConditionVerified of a DatabaseBackup is True when its last verification succeeded.
	ConditionVerified = "Verified"
	// ConditionAccepted of a DatabaseEngine is True when clusters can use it.
	ConditionAccepted = "Accepted"
	// ConditionSplitBrainSuspected is True when two ready members report that they are the primary, for longer than the
	// lock of the engine allows. The operator then disturbs no member.
	ConditionSplitBrainSuspected = "SplitBrainSuspected"
	// ConditionEvictionBlocked is True when Kubernetes refuses to evict members, so no node with a member can be drained.
	ConditionEvictionBlocked = "EvictionBlocked"
	// ConditionDeletionBlocked is True when a deletion needs an action of the user. It exists only during a deletion.
	ConditionDeletionBlocked = "DeletionBlocked"
)

// ClusterConditions are the condition types that the operator sets on a DatabaseCluster.
var ClusterConditions = []string{
	ConditionReady, ConditionAvailable, ConditionProgressing, ConditionDegraded, ConditionStalled, ConditionUpdateAvailable,
	ConditionStorageResizing, ConditionDiskPressure, ConditionAutoResizeActive, ConditionPaused, ConditionHibernated,
	ConditionBackupHealthy, ConditionBackupVerified,
	ConditionContinuousArchiving, ConditionCredentialsRotated, ConditionProtectionEnforced, ConditionTLSReady, ConditionMonitoringConfigured,
	ConditionSplitBrainSuspected, ConditionEvictionBlocked, ConditionDeletionBlocked,
}

// CompanionConditions are the condition types that the operator sets on a DatabaseCompanion.
var CompanionConditions = []string{ConditionReady, ConditionAvailable, ConditionStalled, ConditionEvictionBlocked}

// Reasons of ConditionReady. While it is False, it has the reason of the condition that its message quotes.
const (
	// ReasonReady: the cluster matches its spec.
	ReasonReady = "Ready"
)

// Reasons of ConditionAvailable.
const (
	// ReasonAllReplicasReady: every member is ready.
	ReasonAllReplicasReady = "AllReplicasReady"
	// ReasonReplicasNotReady: some or all members are not ready.
	ReasonReplicasNotReady = "ReplicasNotReady"
	// ReasonPrimaryReady: one primary is ready.
	ReasonPrimaryReady = "PrimaryReady"
	// ReasonNoPrimary: no ready member is the primary.
	ReasonNoPrimary = "NoPrimary"
	// ReasonMajorityReady: a ready member belongs to a majority.
	ReasonMajorityReady = "MajorityReady"
	// ReasonNoMajority: no ready member belongs to a majority.
	ReasonNoMajority = "NoMajority"
	// ReasonWritesRefused: the database accepts no writes. The message has the cause, as a member reports it.
	ReasonWritesRefused = "WritesRefused"
	// ReasonCreating: the members do not exist yet.
	ReasonCreating = "Creating"
	// ReasonHibernated: the members are stopped because of spec.hibernated; also of Ready and Hibernated.
	ReasonHibernated = "Hibernated"
)

// Reasons of ConditionProgressing.
const (
	// ReasonApplying: the operator applies the spec to the cluster's objects.
	ReasonApplying = "Applying"
	// ReasonScaling: members are being added or removed.
	ReasonScaling = "Scaling"
	// ReasonRollingOut: members are replaced one by one because of a change.
	ReasonRollingOut = "RollingOut"
	// ReasonRolloutPaused: members are outdated, and spec.updateStrategy.paused is true.
	ReasonRolloutPaused = "RolloutPaused"
	// ReasonWaitingForUser: members are outdated, and with spec.updateStrategy.type OnDelete the user replaces them.
	ReasonWaitingForUser = "WaitingForUser"
	// ReasonWaitingForMembers: members start or stop.
	ReasonWaitingForMembers = "WaitingForMembers"
	// ReasonWaitingForVolume: a PersistentVolumeClaim is being deleted, and its name is not free yet.
	ReasonWaitingForVolume = "WaitingForVolume"
	// ReasonWaitingForReference: an object that the spec names does not exist or is invalid. Stalled names it.
	ReasonWaitingForReference = "WaitingForReference"
	// ReasonWaitingForPreviousCluster: objects of a previous cluster of the same name are still being deleted.
	ReasonWaitingForPreviousCluster = "WaitingForPreviousCluster"
	// ReasonInitializing: the first data is being created in the volume of member 0.
	ReasonInitializing = "Initializing"
	// ReasonInitializeRetrying: an attempt to create the first data failed. The operator retries until the deadline.
	ReasonInitializeRetrying = "InitializeRetrying"
	// ReasonHandingOver: another member becomes the primary before the current one is disturbed.
	ReasonHandingOver = "HandingOver"
	// ReasonRebuilding: a member copies the data of the others into a new volume.
	ReasonRebuilding = "Rebuilding"
	// ReasonRemovingMember: the other members remove a member from their list before it is stopped.
	ReasonRemovingMember = "RemovingMember"
	// ReasonConfiguring: parameters or passwords are being put in force.
	ReasonConfiguring = "Configuring"
	// ReasonRestoring: a backup is being restored into the volumes.
	ReasonRestoring = "Restoring"
	// ReasonReplacingData: the members stop, to start with other volumes, because a DatabaseRestore asks for them.
	ReasonReplacingData = "ReplacingData"
	// ReasonRestoreRetrying: an attempt to restore, or to create the first data, failed. The operator retries until the
	// deadline.
	ReasonRestoreRetrying = "RestoreRetrying"
	// ReasonAdoptingVolumes: the operator adopts the retained volumes of a previous cluster of the same name.
	ReasonAdoptingVolumes = "AdoptingVolumes"
	// ReasonHibernating: the members are being stopped, one by one; also of Available and Hibernated.
	ReasonHibernating = "Hibernating"
	// ReasonResizingStorage: the volumes are growing.
	ReasonResizingStorage = "ResizingStorage"
	// ReasonModifyingStorage: the volumes change to another VolumeAttributesClass.
	ReasonModifyingStorage = "ModifyingStorage"
	// ReasonRetrying: a request to the API server failed. The operator retries it.
	ReasonRetrying = "Retrying"
	// ReasonPaused: the cluster needs changes, and spec.paused is true; also of Paused.
	ReasonPaused = "Paused"
)

// Reasons of ConditionDegraded.
const (
	// ReasonMembersHealthy: no member has failed.
	ReasonMembersHealthy = "MembersHealthy"
	// ReasonMemberFailing: a member cannot start or cannot be scheduled.
	ReasonMemberFailing = "MemberFailing"
)

// Reasons of ConditionStalled.
const (
	// ReasonNotStalled: no action of the user is required.
	ReasonNotStalled = "NotStalled"
	// ReasonNameConflict: an object with another owner has a name that the cluster needs.
	ReasonNameConflict = "NameConflict"
	// ReasonRefused: the API server refuses an object of the cluster.
	ReasonRefused = "Refused"
	// ReasonReferenceMissing: a Secret, ConfigMap or ServiceAccount that the spec names does not exist.
	ReasonReferenceMissing = "ReferenceMissing"
	// ReasonEngineMissing: the DatabaseEngine that the spec names does not exist.
	ReasonEngineMissing = "EngineMissing"
	// ReasonEngineIncompatible: the DatabaseEngine that the spec names has another topology than the one that wrote the data.
	ReasonEngineIncompatible = "EngineIncompatible"
	// ReasonInvalidReplicas: the engine does not allow this number of members.
	ReasonInvalidReplicas = "InvalidReplicas"
	// ReasonInvalidEngine: the DatabaseEngine that the spec names is invalid; also of its Accepted.
	ReasonInvalidEngine = "InvalidEngine"
	// ReasonInvalidParameter: the engine does not have a parameter, or does not allow its value.
	ReasonInvalidParameter = "InvalidParameter"
	// ReasonActionMissing: the spec needs an action that the engine does not have, for example backup.
	ReasonActionMissing = "ActionMissing"
	// ReasonFieldUnsupported: the engine does not support a field of the spec.
	ReasonFieldUnsupported = "FieldUnsupported"
	// ReasonSecretIncomplete: spec.credentials.secretName is not set, or its Secret lacks a usable value that the engine needs.
	ReasonSecretIncomplete = "SecretIncomplete"
	// ReasonRestoreFailed: the backup of spec.bootstrap.fromBackup could not be restored.
	ReasonRestoreFailed = "RestoreFailed"
	// ReasonInitializeFailed: the first data could not be created.
	ReasonInitializeFailed = "InitializeFailed"
	// ReasonVolumeLost: a volume with data no longer exists, and no other member has its data.
	ReasonVolumeLost = "VolumeLost"
	// ReasonConfigureFailed: parameters or passwords could not be put in force.
	ReasonConfigureFailed = "ConfigureFailed"
	// ReasonJobBlocked: a Job of the operator cannot start a pod, its attempts fail, or the node of its pod does not respond, until the
	// user corrects the cause.
	ReasonJobBlocked = "JobBlocked"
	// ReasonVolumeConflict: retained volumes of a previous cluster of the same name prevent the creation.
	ReasonVolumeConflict = "VolumeConflict"
	// ReasonResizeInfeasible: a volume cannot grow to spec.storage.size; also of StorageResizing.
	ReasonResizeInfeasible = "ResizeInfeasible"
	// ReasonModifyInfeasible: a volume cannot get the attributes of spec.storage.volumeAttributesClassName.
	ReasonModifyInfeasible = "ModifyInfeasible"
	// ReasonServiceAccountReplaced: the ServiceAccount is younger than members, so the API server refuses their tokens.
	ReasonServiceAccountReplaced = "ServiceAccountReplaced"
)

// Reasons of the conditions that appear where they apply.
const (
	// ReasonNewerTemplate: this version of the operator would change the pod template.
	ReasonNewerTemplate = "NewerTemplate"
	// ReasonUpToDate: the cluster is up to date; of Progressing and UpdateAvailable.
	ReasonUpToDate = "UpToDate"
	// ReasonResizing: a volume grows. Of AutoResizeActive: members get the requests that the operator decided.
	ReasonResizing = "Resizing"
	// ReasonResized: every volume has the size of spec.storage.size.
	ReasonResized = "Resized"
	// ReasonTwoPrimaries: two ready members report that they are the primary; also of Stalled.
	ReasonTwoPrimaries = "TwoPrimaries"
	// ReasonOnePrimary: at most one ready member reports that it is the primary.
	ReasonOnePrimary = "OnePrimary"
	// ReasonSeveralBudgets: more than one PodDisruptionBudget selects a member.
	ReasonSeveralBudgets = "SeveralPodDisruptionBudgets"
	// ReasonNoMemberElsewhere: the node of the primary is cordoned, and no member on another node can take over yet.
	ReasonNoMemberElsewhere = "NoMemberElsewhere"
	// ReasonOneBudget: only the PodDisruptionBudget of the operator selects the members.
	ReasonOneBudget = "OnePodDisruptionBudget"
	// ReasonNotPaused: the operator is not paused.
	ReasonNotPaused = "NotPaused"
	// ReasonRunning: the members are not hibernated.
	ReasonRunning = "Running"
)

// Reasons of ConditionDeletionBlocked, and of the other conditions while a cluster is being deleted.
const (
	// ReasonDeleting: the deletion proceeds.
	ReasonDeleting = "Deleting"
	// ReasonHookRunning: a deletion hook runs.
	ReasonHookRunning = "HookRunning"
	// ReasonHookWaiting: a deletion hook waits for an action of the user.
	ReasonHookWaiting = "HookWaiting"
	// ReasonHookFailed: a deletion hook has failed.
	ReasonHookFailed = "HookFailed"
	// ReasonTerminating: the members terminate one by one.
	ReasonTerminating = "Terminating"
	// ReasonProtected: the cluster was deleted although spec.deletion.protection is true; also of Stalled.
	ReasonProtected = "Protected"
	// ReasonDeletionError: the API server refuses a request of the deletion.
	ReasonDeletionError = "DeletionError"
)

// Reasons of ConditionContinuousArchiving.
const (
	// ReasonArchiving: the archive has the commits of the last minutes.
	ReasonArchiving = "Archiving"
	// ReasonArchiveStarting: the pod of the archive starts, or waits for the members.
	ReasonArchiveStarting = "ArchiveStarting"
	// ReasonArchiveBehind: the archive lacks commits of the last minutes. The database keeps them.
	ReasonArchiveBehind = "ArchiveBehind"
)

// Reasons of ConditionBackupHealthy, ConditionBackupVerified, ConditionVerified and ConditionProtectionEnforced.
const (
	// ReasonBackupFresh: the newest complete backup is recent.
	ReasonBackupFresh = "BackupFresh"
	// ReasonDataReplaced: the newest complete backup is recent. A member has another volume or database in it than in an
	// older one that still exists.
	ReasonDataReplaced = "DataReplaced"
	// ReasonRestoredSince: a DatabaseRestore replaced the data after the newest complete backup, or gave it back.
	ReasonRestoredSince = "RestoredSince"
	// ReasonBackupOverdue: the newest complete backup is too old, or there is none.
	ReasonBackupOverdue = "BackupOverdue"
	// ReasonBackupFailed: the last backup failed; also of a DatabaseBackup's Ready and Stalled.
	ReasonBackupFailed = "BackupFailed"
	// ReasonNoBackup: there is no complete backup yet.
	ReasonNoBackup = "NoBackup"
	// ReasonInvalidSchedule: a schedule is invalid.
	ReasonInvalidSchedule = "InvalidSchedule"
	// ReasonBackupNameConflict: another DatabaseBackup has the name of the scheduled backup that is due.
	ReasonBackupNameConflict = "BackupNameConflict"
	// ReasonVerified: the verification succeeded.
	ReasonVerified = "Verified"
	// ReasonVerificationFailed: the restore failed, or the copy did not pass the check.
	ReasonVerificationFailed = "VerificationFailed"
	// ReasonVerificationRunning: a verification runs.
	ReasonVerificationRunning = "VerificationRunning"
	// ReasonNotVerified: no backup has been verified yet.
	ReasonNotVerified = "NotVerified"
	// ReasonPoliciesInPlace: the admission policies exist.
	ReasonPoliciesInPlace = "PoliciesInPlace"
	// ReasonPoliciesMissing: the admission policies do not exist, or could not be read.
	ReasonPoliciesMissing = "PoliciesMissing"
	// ReasonNotProtected: spec.deletion.protection is false.
	ReasonNotProtected = "NotProtected"
)

// Reasons of ConditionDiskPressure.
const (
	// ReasonEnoughSpace: no volume is used up to spec.storage.autoGrow.atPercent, or 80 percent without autoGrow.
	ReasonEnoughSpace = "EnoughSpace"
	// ReasonGrowing: the operator has raised the size of the volumes.
	ReasonGrowing = "Growing"
	// ReasonCooldown: the volumes grow again after spec.storage.autoGrow.cooldownSeconds. Of AutoResizeActive: the operator follows the
	// next recommendation after spec.autoResize.cooldownSeconds.
	ReasonCooldown = "Cooldown"
	// ReasonFilling: a volume fills, and spec.storage.autoGrow is not set, or another operation or a pause prevents growth.
	ReasonFilling = "Filling"
	// ReasonLimitReached: the volumes have the size spec.storage.autoGrow.limit. Of AutoResizeActive: the VerticalPodAutoscaler
	// recommends more than a max of spec.autoResize.
	ReasonLimitReached = "LimitReached"
	// ReasonCannotExpand: the StorageClass, or the storage, refuses to expand the volumes.
	ReasonCannotExpand = "CannotExpand"
	// ReasonLogKept: the volumes have grown once, and the archive does not store the log.
	ReasonLogKept = "LogKept"
	// ReasonSharedFileSystem: the volume has no file system of its own, so its size does not bound its use.
	ReasonSharedFileSystem = "SharedFileSystem"
	// ReasonReadOnly: transactions are read-only, because the volume of the primary is nearly full.
	ReasonReadOnly = "ReadOnly"
	// ReasonUsageUnknown: the use of the volumes is not known.
	ReasonUsageUnknown = "UsageUnknown"
)

// Reasons of ConditionAutoResizeActive, with ReasonResizing, ReasonCooldown and ReasonLimitReached.
const (
	// ReasonRecommendationFollowed: the requests of the members are the recommended ones, or differ too little.
	ReasonRecommendationFollowed = "RecommendationFollowed"
	// ReasonRecommendationPending: the operator follows another recommendation after the current operation.
	ReasonRecommendationPending = "RecommendationPending"
	// ReasonRecommendationMissing: the VerticalPodAutoscaler recommends nothing for the database yet.
	ReasonRecommendationMissing = "RecommendationMissing"
	// ReasonAutoscalerMissing: the VerticalPodAutoscaler or its kind does not exist, or the operator may not read it.
	ReasonAutoscalerMissing = "AutoscalerMissing"
	// ReasonAutoscalerIncompatible: the VerticalPodAutoscaler has another target, or changes pods itself.
	ReasonAutoscalerIncompatible = "AutoscalerIncompatible"
	// ReasonRequestsOutOfBounds: spec.resources has no request within the bounds of spec.autoResize.
	ReasonRequestsOutOfBounds = "RequestsOutOfBounds"
	// ReasonAutoResizeRemoved: spec.autoResize was removed, and the members do not have spec.resources yet.
	ReasonAutoResizeRemoved = "AutoResizeRemoved"
)

// Reasons of ConditionCredentialsRotated.
const (
	// ReasonRotated: the passwords of the Secret are in force.
	ReasonRotated = "Rotated"
	// ReasonRotating: new passwords are being put in force.
	ReasonRotating = "Rotating"
	// ReasonRotationFailed: new passwords could not be put in force. Clients use the previous ones.
	ReasonRotationFailed = "RotationFailed"
)

// Reasons of Ready of a Database and a DatabaseUser. Those of problems that the user must solve are also reasons of Stalled.
const (
	// ReasonInDatabase: the database has the object as spec declares it.
	ReasonInDatabase = "InDatabase"
	// ReasonCreatedAgain: the database had lost the object, and the operator has created it again. Its content is lost.
	ReasonCreatedAgain = "CreatedAgain"
	// ReasonObjectPending: the operator is about to create the object, or the cluster cannot be reached now.
	ReasonObjectPending = "ObjectPending"
	// ReasonObjectExists: the database has an object of this name that the resource did not create.
	ReasonObjectExists = "ObjectExists"
	// ReasonObjectRefused: the engine refuses a field of spec.
	ReasonObjectRefused = "ObjectRefused"
	// ReasonObjectFailed: the database reported an error.
	ReasonObjectFailed = "ObjectFailed"
	// ReasonObjectDrifted: another client has changed the object in the database, and spec.drift is Report.
	ReasonObjectDrifted = "ObjectDrifted"
	// ReasonNameTaken: an older resource declares an object of the same name.
	ReasonNameTaken = "NameTaken"
	// ReasonPasswordUnusable: the password in the Secret is too short, too long, or has control characters.
	ReasonPasswordUnusable = "PasswordUnusable"
	// ReasonPasswordMissing: the Secret with the password does not exist, or lacks the key.
	ReasonPasswordMissing = "PasswordMissing"
	// ReasonCertificateUnsupported: the user should log in by a certificate, which the cluster or its engine does not accept.
	ReasonCertificateUnsupported = "CertificateUnsupported"
)

// Reasons of ConditionTLSReady. Those of problems that the user must solve are also reasons of Stalled.
const (
	// ReasonCertificateServed: all members serve the certificate.
	ReasonCertificateServed = "CertificateServed"
	// ReasonCertificatePending: the certificate is being issued.
	ReasonCertificatePending = "CertificatePending"
	// ReasonCertificateReloading: members load a renewed certificate.
	ReasonCertificateReloading = "CertificateReloading"
	// ReasonReloadFailed: members could not load a renewed certificate.
	ReasonReloadFailed = "ReloadFailed"
	// ReasonCertificateInvalid: members cannot serve the certificate, or clients cannot verify it.
	ReasonCertificateInvalid = "CertificateInvalid"
	// ReasonCertificateNotIssued: cert-manager does not issue the certificate.
	ReasonCertificateNotIssued = "CertificateNotIssued"
	// ReasonCertManagerMissing: cert-manager is not installed, or the operator may not use it.
	ReasonCertManagerMissing = "CertManagerMissing"
	// ReasonTLSUnsupported: the engine does not support spec.tls, or its mode.
	ReasonTLSUnsupported = "TLSUnsupported"
	// ReasonNoTLS: spec.tls is not set.
	ReasonNoTLS = "NoTLS"
)

// Reasons of ConditionMonitoringConfigured.
const (
	// ReasonMonitoringConfigured: the objects for spec.monitoring exist.
	ReasonMonitoringConfigured = "MonitoringConfigured"
	// ReasonMonitoringPending: the operator has not written an object for spec.monitoring yet.
	ReasonMonitoringPending = "MonitoringPending"
	// ReasonMetricsUnsupported: the cluster has no engine that declares metrics.
	ReasonMetricsUnsupported = "MetricsUnsupported"
	// ReasonExporterImageMissing: neither the cluster nor its engine names the image of the exporter.
	ReasonExporterImageMissing = "ExporterImageMissing"
	// ReasonPrometheusOperatorMissing: the Prometheus Operator is not installed, or the operator may not use it.
	ReasonPrometheusOperatorMissing = "PrometheusOperatorMissing"
	// ReasonMonitorOwnedByAnother: a PodMonitor or PrometheusRule of another owner has the name that the cluster needs.
	ReasonMonitorOwnedByAnother = "MonitorOwnedByAnother"
)

// Reasons of a DatabaseBackup's Ready and Stalled.
const (
	// ReasonBackupCompleted: all data is at the destination.
	ReasonBackupCompleted = "BackupCompleted"
	// ReasonBackupPending: the backup has not started.
	ReasonBackupPending = "BackupPending"
	// ReasonBackupRunning: the operator writes data to the destination.
	ReasonBackupRunning = "BackupRunning"
)

// Reasons of Ready and Stalled of a DatabaseRestore. It also has those of Stalled of its preview.
const (
	// ReasonPreviewReady: clients can use the preview.
	ReasonPreviewReady = "PreviewReady"
	// ReasonReplaced: the cluster is available with the data of the restore.
	ReasonReplaced = "Replaced"
	// ReasonUndone: the cluster is available with its volumes from before.
	ReasonUndone = "Undone"
	// ReasonReplacing: the data is restored into other volumes, or the members get these.
	ReasonReplacing = "Replacing"
	// ReasonReplacementHeld: another DatabaseRestore retains the volumes from before of the cluster.
	ReasonReplacementHeld = "ReplacementHeld"
	// ReasonPodReady: a pod of the companion is ready.
	ReasonPodReady = "PodReady"
	// ReasonNoPodReady: no pod of the companion is ready.
	ReasonNoPodReady = "NoPodReady"
	// ReasonClusterMissing: the DatabaseCluster that spec.clusterRef names does not exist.
	ReasonClusterMissing = "ClusterMissing"
	// ReasonBackupMissing: the cluster has no complete backup for the restore.
	ReasonBackupMissing = "BackupMissing"
)

// Reasons of a DatabaseEngine's Accepted; False has ReasonInvalidEngine.
const (
	// ReasonAccepted: clusters can use the engine.
	ReasonAccepted = "Accepted"
)
