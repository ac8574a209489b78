/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// HookFailurePolicy is what a failed hook does to the deletion.
type HookFailurePolicy string

const (
	// HookFailureBlock means that the deletion is blocked until the user acts.
	HookFailureBlock HookFailurePolicy = "Block"
	// HookFailureContinue means that the deletion continues without the hook.
	HookFailureContinue HookFailurePolicy = "Continue"
)

// HookType is what a hook does.
type HookType string

const (
	// HookBackup creates a DatabaseBackup and waits for it. With volumes Delete, it stops the members first, so that
	// no write can come after the backup.
	HookBackup HookType = "Backup"
	// HookCommand runs a command as a Job with the cluster's image, environment and security settings.
	HookCommand HookType = "Command"
	// HookShutdown stops the members in their order. It fails if a member does not exit with 0.
	HookShutdown HookType = "Shutdown"
)

// DeletionHook is one task before the cluster is deleted.
//
// +kubebuilder:validation:XValidation:rule="has(self.command) == (self.type == 'Command')",message="spec.deletion.hooks[]: command is required for type Command, and not allowed for other types"
type DeletionHook struct {
	// name is the name of the hook, unique in the cluster, at most 12 characters. The names of its Job and its
	// DatabaseBackup contain it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.deletion.hooks[].name must be a DNS label: lowercase letters, digits and '-'"
	Name string `json:"name"`

	// type is Backup, Command or Shutdown. Backup creates a DatabaseBackup at spec.backup.destination, also when no
	// member runs: its Job then starts the database on the volume. With spec.deletion.volumes Delete, it stops the
	// members first, so that the backup contains every write. Command runs a command as a Job with the cluster's
	// image and environment, and with DBC_CLUSTER, DBC_NAMESPACE, DBC_PORT, DBC_REPLICAS and DBC_MEMBERS. DBC_MEMBERS
	// has the host names of the members from ordinal 0, separated by spaces. Shutdown stops the members one by one and fails if a
	// member does not exit with 0. It must be the last hook.
	// +required
	// +kubebuilder:validation:Enum=Backup;Command;Shutdown
	Type HookType `json:"type"`

	// command is the command of a hook of type Command. An exit code other than 0 is a failure. The Job makes three
	// attempts. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// resources are the CPU and memory of a hook of type Command. Other types ignore them. They override
	// spec.helpers.resources. Default: requests of 100m CPU and 256Mi of memory, limits like spec.resources and at most 2 CPUs
	// and 1Gi.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}

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
