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
	// ConditionDeletionBlocked is True when a deletion waits for a human; it exists only during a deletion.
	ConditionDeletionBlocked = "DeletionBlocked"
)

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
	// ReasonWaitingForReference: a Secret or ConfigMap that the spec names does not exist.
	ReasonWaitingForReference = "WaitingForReference"
	// ReasonWaitingForFormer: objects of a former cluster of the same name are still being removed.
	ReasonWaitingForFormer = "WaitingForFormer"
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
	// ReasonHookFailed: a deletion hook has failed.
	ReasonHookFailed = "HookFailed"
	// ReasonStopping: the members stop one by one.
	ReasonStopping = "Stopping"
	// ReasonDeletionError: the API server refuses a step of the deletion.
	ReasonDeletionError = "DeletionError"
)
