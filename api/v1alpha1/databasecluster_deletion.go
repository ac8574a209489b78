/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

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
