/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Deletion says what happens when the cluster is deleted: the hooks in their order, then the members stop one
// by one from the highest ordinal, then the volumes go or are kept, then the objects go.
//
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || self.hooks.filter(h, h.type == 'Shutdown').size() <= 1",message="spec.deletion.hooks: only one can be of type Shutdown"
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || self.hooks.size() == 0 || self.hooks[self.hooks.size() - 1].type == 'Shutdown' || !self.hooks.exists(h, h.type == 'Shutdown')",message="spec.deletion.hooks: the one of type Shutdown must be the last, because it stops the members"
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || !has(self.volumes) || self.volumes != 'Delete' || [1, 2, 3, 4, 5, 6, 7].all(i, i >= self.hooks.size() || self.hooks[i].type != 'Command' || [0, 1, 2, 3, 4, 5, 6].all(j, j >= i || self.hooks[j].type != 'Backup'))",message="spec.deletion.hooks: where volumes is Delete, none of type Command can come after one of type Backup, because that stops the members for good"
type Deletion struct {
	// protection lets the API server refuse the deletion of the cluster and of its volumes' claims, until this
	// is false again. The condition ProtectionEnforced tells whether it does. Default: false.
	// +optional
	Protection bool `json:"protection,omitempty"`

	// volumes says what becomes of the members' volumes: Retain keeps them, for a new cluster of the same
	// name; Delete deletes them once every hook has succeeded. After a hook that failed or was skipped they
	// are kept all the same. With a hook of type Backup, a volume is deleted only if a completed DatabaseBackup
	// of that hook still exists and started after its member had stopped. Default: Retain.
	// +optional
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	Volumes VolumePolicy `json:"volumes,omitempty"`

	// hooks run one after the other before the members are stopped.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Hooks []DeletionHook `json:"hooks,omitempty"`

	// onFailure decides when a hook has failed: Block keeps the cluster until somebody acts,
	// Continue goes on without the hook. Default: Block.
	// +optional
	// +kubebuilder:default=Block
	// +kubebuilder:validation:Enum=Block;Continue
	OnFailure HookFailurePolicy `json:"onFailure,omitempty"`

	// deadlineSeconds is how long each hook may take, retries included, in seconds, 1 to 604800.
	// Default: 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DeadlineSeconds int64 `json:"deadlineSeconds,omitempty"`
}

// VolumePolicy says what becomes of the volumes when the cluster is deleted.
type VolumePolicy string

const (
	// VolumesRetain keeps the volumes.
	VolumesRetain VolumePolicy = "Retain"
	// VolumesDelete deletes the volumes once every hook has succeeded.
	VolumesDelete VolumePolicy = "Delete"
)

// HookFailurePolicy decides what a failed hook means for the deletion.
type HookFailurePolicy string

const (
	// HookFailureBlock keeps the cluster until somebody acts.
	HookFailureBlock HookFailurePolicy = "Block"
	// HookFailureContinue goes on without the hook.
	HookFailureContinue HookFailurePolicy = "Continue"
)

// HookType is what a hook does.
type HookType string

const (
	// HookBackup makes a DatabaseBackup and waits for it. Where the volumes are to be deleted, it stops the members
	// first, so that no write can come after the backup.
	HookBackup HookType = "Backup"
	// HookCommand runs a command as a Job with the cluster's image, environment and security settings.
	HookCommand HookType = "Command"
	// HookShutdown is the ordered stop of the members as a hook: it fails if one does not exit cleanly.
	HookShutdown HookType = "Shutdown"
)

// DeletionHook is one thing to do before the cluster goes.
//
// +kubebuilder:validation:XValidation:rule="has(self.command) == (self.type == 'Command')",message="spec.deletion.hooks[]: command must be given for type Command, and for no other"
type DeletionHook struct {
	// name is the hook's own, unique in the cluster, at most 12 characters. It becomes part of the name of its Job or
	// DatabaseBackup.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=12
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="spec.deletion.hooks[].name must be a DNS label: lower case letters, digits and '-'"
	Name string `json:"name"`

	// type is what the hook does. Backup makes a DatabaseBackup at spec.backup.destination, also when no member runs: its
	// Job then starts the database on the volume itself. Where spec.deletion.volumes is Delete, it stops the members
	// first, so that no write is missing from the backup; no Command can come after it then. Command runs a command as a Job with the cluster's
	// image and environment, and with DBC_CLUSTER, DBC_NAMESPACE, DBC_PORT, DBC_REPLICAS and DBC_MEMBERS: the
	// host names of the members from ordinal 0, separated by spaces. Shutdown stops the members one by one, and
	// fails if one does not exit with 0; it must be the last.
	// +required
	// +kubebuilder:validation:Enum=Backup;Command;Shutdown
	Type HookType `json:"type"`

	// command is what the Job of a hook of type Command runs. It has failed when it exits with anything but 0;
	// it is tried three times.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=65536
	Command []string `json:"command,omitempty"`

	// resources are those of the container of a hook of type Command; hooks of other types ignore them. What they leave out has a default: 100m CPU and 256Mi
	// of memory are requested, 2 CPUs and 1Gi are the limits.
	// +optional
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`
}
