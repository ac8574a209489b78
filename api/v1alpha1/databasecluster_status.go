/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DatabaseClusterStatus is what the operator last saw.
type DatabaseClusterStatus struct {
	// conditions tell the state of the cluster. Always there: Ready, Available, Progressing, Degraded
	// and Stalled. From when they first were True: UpdateAvailable, StorageResizing, Paused, Hibernated.
	// While the cluster is being deleted: DeletionBlocked.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=32
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that the cluster's objects express.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of members that exist.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of members that are ready.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	ReadyReplicas int32 `json:"readyReplicas"`

	// updatedReplicas is the number of members that run the current template.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	UpdatedReplicas int32 `json:"updatedReplicas"`

	// updateRevision is the revision of the current template, as the label controller-revision-hash
	// of the pods made from it has it.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=253
	UpdateRevision string `json:"updateRevision,omitempty"`

	// members are the pods of the cluster, by ordinal.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +listType=map
	// +listMapKey=pod
	// +kubebuilder:validation:MaxItems=64
	Members []MemberStatus `json:"members,omitempty"`

	// storage tells how large the volumes are. Left out for ephemeral ones.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Storage *StorageStatus `json:"storage,omitempty"`

	// selector is the label selector of the members, as text, for the scale subresource.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=512
	Selector string `json:"selector,omitempty"`
}

// MemberReason says in one word how a member is.
type MemberReason string

const (
	// MemberReady says that the member is ready.
	MemberReady MemberReason = "Ready"
	// MemberStarting says that the member is not ready, and nothing is known to keep it from that.
	MemberStarting MemberReason = "Starting"
	// MemberFailing says that the member cannot start, or keeps ending; the message says why.
	MemberFailing MemberReason = "Failing"
	// MemberStopping says that the member is on its way out.
	MemberStopping MemberReason = "Stopping"
)

// MemberStatus is one member as the operator last saw it.
type MemberStatus struct {
	// pod is the name of the member's pod.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Pod string `json:"pod"`

	// ordinal is the member's number, from 0.
	// +optional
	Ordinal int32 `json:"ordinal"`

	// revision is the revision of the template that the pod was made from, its label controller-revision-hash.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Revision string `json:"revision,omitempty"`

	// outdated tells that the pod does not run the current template.
	// +optional
	Outdated bool `json:"outdated,omitempty"`

	// ready tells whether the member is ready.
	// +optional
	Ready bool `json:"ready"`

	// reason is how the member is: Ready, Starting, Failing or Stopping.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Reason MemberReason `json:"reason,omitempty"`

	// message says why a member is failing.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// volume is the member's data volume. Left out where there is none.
	// +optional
	Volume *VolumeStatus `json:"volume,omitempty"`
}

// VolumeStatus is a data volume as the operator last saw it.
type VolumeStatus struct {
	// claim is the name of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`

	// requested is the size that the claim asks for.
	// +optional
	Requested resource.Quantity `json:"requested,omitzero"`

	// capacity is the size that the volume has. Left out while it is not bound.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}

// StorageStatus tells how large the volumes are.
type StorageStatus struct {
	// requested is the largest size that a member's claim asks for.
	// +required
	Requested resource.Quantity `json:"requested"`

	// capacity is the size of the smallest volume. Left out while none is bound.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`
}
