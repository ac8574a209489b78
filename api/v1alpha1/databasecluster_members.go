/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// MemberState is the state of a member in one word.
type MemberState string

const (
	// MemberReady means that the member is ready.
	MemberReady MemberState = "Ready"
	// MemberStarting means that the member is not ready, and no failure is known.
	MemberStarting MemberState = "Starting"
	// MemberFailing means that the member cannot start, or its container keeps exiting. The message has the cause.
	MemberFailing MemberState = "Failing"
	// MemberTerminating means that the pod of the member is terminating.
	MemberTerminating MemberState = "Terminating"
)

// MemberStatus is the observed state of one member.
type MemberStatus struct {
	// pod is the name of the member's pod.
	// +required
	// +kubebuilder:validation:MaxLength=63
	Pod string `json:"pod"`

	// ordinal is the number of the member, from 0.
	// +optional
	Ordinal int32 `json:"ordinal"`

	// revision is the revision of the pod's template, its label controller-revision-hash.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Revision string `json:"revision,omitempty"`

	// outdated is true if the pod does not have the current pod template.
	// +optional
	Outdated bool `json:"outdated,omitempty"`

	// ready is true if the member is ready.
	// +optional
	Ready bool `json:"ready"`

	// state is the state of the member: Ready, Starting, Failing or Terminating.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	State MemberState `json:"state,omitempty"`

	// role is Primary or Replica, as the software of the engine reports it. It is empty while it is unknown, and for
	// engines without roles.
	// +optional
	// +kubebuilder:validation:Enum=Primary;Replica
	Role MemberRole `json:"role,omitempty"`

	// node is the name of the node on which the member runs. It is empty until the member has a node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// zone is the zone of the node: the pod's label topology.kubernetes.io/zone. It is empty if the node has no zone,
	// or if the API server does not copy the labels of nodes to pods. Kubernetes 1.35 and newer do.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Zone string `json:"zone,omitempty"`

	// version is the version of the database that the member has started. It is empty if it is unknown.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Version string `json:"version,omitempty"`

	// message is the cause of the failure of a member.
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`

	// volume is the data volume of the member. It is empty if there is none.
	// +optional
	Volume *MemberVolumeStatus `json:"volume,omitempty"`
}

// MemberRole is the role of a member.
type MemberRole string

// Roles of a member.
const (
	// RolePrimary accepts writes.
	RolePrimary MemberRole = "Primary"
	// RoleReplica copies the data of the primary.
	RoleReplica MemberRole = "Replica"
)

// MemberVolumeStatus is the observed state of a data volume.
type MemberVolumeStatus struct {
	// claim is the name of the PersistentVolumeClaim.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Claim string `json:"claim"`

	// requested is the size in the spec of the claim, for example 10Gi.
	// +optional
	Requested resource.Quantity `json:"requested,omitzero"`

	// capacity is the size of the volume, for example 10Gi. It is empty while the claim is not bound.
	// +optional
	Capacity *resource.Quantity `json:"capacity,omitempty"`

	// attributesClass is the VolumeAttributesClass of the volume. It is empty if it has none.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	AttributesClass string `json:"attributesClass,omitempty"`
}
