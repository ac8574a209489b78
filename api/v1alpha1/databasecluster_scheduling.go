/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ClusterScheduling selects the nodes on which the members run.
//
// +kubebuilder:validation:XValidation:rule="!has(self.spread) || !has(self.topologySpreadConstraints)",message="spec.scheduling.spread cannot be set together with spec.scheduling.topologySpreadConstraints, which replace it: remove one of them"
type ClusterScheduling struct {
	// nodeSelector are labels that a node must have. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity are node affinity, pod affinity and pod anti-affinity of the members.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// tolerations let members run on tainted nodes. Default: none.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// spread spreads the members over nodes and zones. Default: Preferred for both.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Spread ClusterSpread `json:"spread,omitzero"`

	// topologySpreadConstraints replace spread with constraints of your own. Default: those of spread.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName is the PriorityClass of the members. Default: the default PriorityClass.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// ClusterSpreadPolicy is how strictly the members are spread over nodes or zones.
//
// +kubebuilder:validation:Enum=Preferred;Required
type ClusterSpreadPolicy string

const (
	// SpreadPreferred spreads the members where the nodes allow it.
	SpreadPreferred ClusterSpreadPolicy = "Preferred"
	// SpreadRequired starts a member only where the rule is met.
	SpreadRequired ClusterSpreadPolicy = "Required"
)

// ClusterSpread controls how the members are spread over nodes and zones.
//
// +kubebuilder:validation:MinProperties=1
type ClusterSpread struct {
	// nodes is Preferred or Required. With Required, no two members run on one node. A member for which there is no
	// node does not start. Default: Preferred.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Nodes ClusterSpreadPolicy `json:"nodes,omitempty"`

	// zones is Preferred or Required. With Required, the numbers of members in any two zones differ by at most one.
	// Members then run only on nodes with the label topology.kubernetes.io/zone. Default: Preferred.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Zones ClusterSpreadPolicy `json:"zones,omitempty"`
}
