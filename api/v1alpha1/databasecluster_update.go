/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

// ClusterUpdateType is the type of an update strategy.
type ClusterUpdateType string

const (
	// UpdateRolling means that the operator restarts members one by one.
	UpdateRolling ClusterUpdateType = "RollingUpdate"
	// UpdateOnDelete means that the user deletes pods, and Kubernetes creates them again with the change.
	UpdateOnDelete ClusterUpdateType = "OnDelete"
)

// ClusterUpdateStrategy controls how changes reach running members: first members that are broken, then from the
// highest ordinal.
type ClusterUpdateStrategy struct {
	// type is RollingUpdate or OnDelete. With RollingUpdate the operator restarts members one by one. With OnDelete
	// a member gets the change when you delete its pod. Default: RollingUpdate.
	// +optional
	// +kubebuilder:default=RollingUpdate
	// +kubebuilder:validation:Enum=RollingUpdate;OnDelete
	Type ClusterUpdateType `json:"type,omitempty"`

	// paused stops a rollout: the operator restarts no further members. A member whose pod is re-created for
	// another reason gets the change. Default: false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// maxUnavailable is the number of members that a rollout may take down at once, 1 to 8. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8
	MaxUnavailable int32 `json:"maxUnavailable,omitempty"`

	// minReadySeconds is the time that a member must be ready before the operator restarts the next one, in seconds,
	// 0 to 3600. Default: 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
}
