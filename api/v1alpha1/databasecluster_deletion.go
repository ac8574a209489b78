/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import corev1 "k8s.io/api/core/v1"

// ClusterDeletion controls the deletion of the cluster. The operator runs the hooks in their order and stops the members one
// by one from the highest ordinal, and the primary last. It then retains or deletes the volumes, and deletes the other objects.
//
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || self.hooks.filter(h, h.type == 'Shutdown').size() <= 1",message="spec.deletion.hooks: only one hook can have type Shutdown"
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || self.hooks.size() == 0 || self.hooks[self.hooks.size() - 1].type == 'Shutdown' || !self.hooks.exists(h, h.type == 'Shutdown')",message="spec.deletion.hooks: the hook of type Shutdown must be the last, because it stops the members"
// +kubebuilder:validation:XValidation:rule="!has(self.hooks) || !has(self.volumes) || self.volumes != 'Delete' || [1, 2, 3, 4, 5, 6, 7].all(i, i >= self.hooks.size() || self.hooks[i].type != 'Command' || [0, 1, 2, 3, 4, 5, 6].all(j, j >= i || self.hooks[j].type != 'Backup'))",message="spec.deletion.hooks: with volumes Delete, no hook of type Command can follow a hook of type Backup, because the final backup stops the members"
type ClusterDeletion struct {
	// protection makes the API server refuse the deletion of the cluster and of its PersistentVolumeClaims. The
	// condition ProtectionEnforced reports whether the API server does. Default: false.
	// +optional
	Protection bool `json:"protection,omitempty"`

	// volumes is Retain or Delete. Retain keeps the volumes for a new cluster of the same name. Delete deletes them
	// after every hook has succeeded; if a hook failed or was skipped, the operator retains them. With a hook of
	// type Backup, the operator deletes a volume only if the hook's DatabaseBackup is complete and still exists. That
	// DatabaseBackup must have started after the member had stopped. Default: Retain.
	// +optional
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	Volumes ClusterVolumePolicy `json:"volumes,omitempty"`

	// hooks run one after the other before the operator stops the members. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Hooks []DeletionHook `json:"hooks,omitempty"`

	// hookFailurePolicy is what a failed hook does to the deletion: Block or Continue. Block blocks it until you correct the
	// cause or skip the hook. Continue continues without the hook. Default: Block.
	// +optional
	// +kubebuilder:default=Block
	// +kubebuilder:validation:Enum=Block;Continue
	HookFailurePolicy HookFailurePolicy `json:"hookFailurePolicy,omitempty"`

	// hookDeadlineSeconds is the time limit of each hook with its retries, in seconds, 1 to 604800. Default: 600.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	HookDeadlineSeconds int64 `json:"hookDeadlineSeconds,omitempty"`
}

// ClusterVolumePolicy is what happens to the volumes when the cluster is deleted.
type ClusterVolumePolicy string

const (
	// VolumesRetain means that the operator keeps the volumes.
	VolumesRetain ClusterVolumePolicy = "Retain"
	// VolumesDelete means that the operator deletes the volumes after every hook has succeeded.
	VolumesDelete ClusterVolumePolicy = "Delete"
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
