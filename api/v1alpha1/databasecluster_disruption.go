/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CordonPolicy is what the operator does when the node of the primary is cordoned.
// +kubebuilder:validation:Enum=HandOver;Ignore
type CordonPolicy string

// The policies for a cordoned node.
const (
	CordonHandOver CordonPolicy = "HandOver"
	CordonIgnore   CordonPolicy = "Ignore"
)

// ClusterDisruption controls how the members leave a node that is drained.
type ClusterDisruption struct {
	// onCordon selects the reaction when the node of the primary is cordoned, or an autoscaler has announced its
	// removal by a taint. HandOver: the primary hands over to a member on another node, and a drain waits for that, up
	// to five minutes. Ignore: the primary stays until a drain evicts it; then the database selects the next one.
	// A change restarts no pod. Default: HandOver.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors={"urn:alm:descriptor:com.tectonic.ui:select:HandOver","urn:alm:descriptor:com.tectonic.ui:select:Ignore"}
	OnCordon CordonPolicy `json:"onCordon,omitempty"`
}

// ClusterDrainStatus is a primary on a node that pods have to leave.
type ClusterDrainStatus struct {
	// pod is the pod of the primary.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=63
	Pod string `json:"pod,omitempty"`

	// node is the node that the pod has to leave.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node,omitempty"`

	// since is when the operator noticed that. Five minutes later, a drain no longer waits for a hand-over.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	Since metav1.Time `json:"since,omitzero"`

	// moves is how often the primary has moved to another such node meanwhile, 0 to 100. After two moves, the operator lets a drain evict
	// the primary.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=status
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Moves int32 `json:"moves,omitempty"`
}
