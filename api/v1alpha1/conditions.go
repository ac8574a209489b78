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
	// ReasonWaitingForMembers: members start or stop.
	ReasonWaitingForMembers = "WaitingForMembers"
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
	// ReasonStorageChangeUnsupported: the volumes do not have the size that the spec asks for.
	ReasonStorageChangeUnsupported = "StorageChangeUnsupported"
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
