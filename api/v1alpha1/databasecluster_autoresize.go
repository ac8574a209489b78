/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ClusterAutoResize configures how the operator follows the recommendation of a VerticalPodAutoscaler.
//
// +kubebuilder:validation:XValidation:rule="has(self.cpu) || has(self.memory)",message="spec.autoResize needs cpu or memory. Set the bounds of at least one"
type ClusterAutoResize struct {
	// autoscalerRef names a VerticalPodAutoscaler of the group autoscaling.k8s.io in the namespace of the cluster. Its
	// targetRef must be this DatabaseCluster, and its updateMode "Off": the operator alone changes the members. The
	// operator never writes it.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	AutoscalerRef ClusterAutoscalerRef `json:"autoscalerRef"`

	// cpu are the bounds of the CPU request. The operator raises and lowers it. Default: the request is that of
	// spec.resources.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	CPU *ClusterResizeBounds `json:"cpu,omitempty"`

	// memory are the bounds of the memory request. The operator raises it, and lowers it only to a lower max: a database
	// keeps the memory that its parameters give it. Default: the request is that of spec.resources.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec
	Memory *ClusterResizeBounds `json:"memory,omitempty"`

	// cooldownSeconds is the time in seconds, from 0 to 604800, after a decision in which the operator follows no other
	// recommendation. Other bounds take effect at once. Default: 3600.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=604800
	CooldownSeconds *int32 `json:"cooldownSeconds,omitempty"`
}

// ClusterAutoscalerRef names a VerticalPodAutoscaler.
type ClusterAutoscalerRef struct {
	// name is the name of the VerticalPodAutoscaler.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",message="spec.autoResize.autoscalerRef.name must be the name of a VerticalPodAutoscaler: lowercase letters, digits, '-' and '.'"
	Name string `json:"name"`
}

// ClusterResizeBounds are the bounds of a request. spec.resources must have a request of that resource between them.
//
// +kubebuilder:validation:XValidation:rule="!quantity(string(self.max)).isLessThan(quantity(string(self.min)))",message="spec.autoResize: max must be at least min. Raise max"
type ClusterResizeBounds struct {
	// min is the smallest request that the operator decides, for example 250m of CPU or 1Gi of memory.
	// +required
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : self.matches('^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$') && quantity(self).isGreaterThan(quantity('0'))",message="min of spec.autoResize must be a quantity greater than zero, for example 250m or 1Gi"
	Min resource.Quantity `json:"min"`

	// max is the largest request that the operator decides, for example 2 of CPU or 4Gi of memory. If you lower it, the
	// operator lowers the request to it at once.
	// +required
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : self.matches('^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$') && quantity(self).isGreaterThan(quantity('0'))",message="max of spec.autoResize must be a quantity greater than zero, for example 2 or 4Gi"
	Max resource.Quantity `json:"max"`
}

// ClusterAutoResizeStatus is the last decision about the resources of the members.
type ClusterAutoResizeStatus struct {
	// requests are those that the operator decided. A limit of spec.resources keeps its ratio to the request.
	// +required
	Requests ClusterResizeAmounts `json:"requests"`

	// time is when the operator followed the recommendation. Other bounds do not change it.
	// +required
	Time metav1.Time `json:"time"`

	// cause is Recommendation if the operator followed the VerticalPodAutoscaler, and Bounds if other bounds of
	// spec.autoResize took effect.
	// +required
	Cause ResizeCause `json:"cause"`

	// recommendation is the target of the VerticalPodAutoscaler at that time, before the bounds. It is empty if there was
	// none.
	// +optional
	Recommendation ClusterResizeAmounts `json:"recommendation,omitzero"`
}

// ResizeCause is why the operator decided other resources.
// +kubebuilder:validation:Enum=Recommendation;Bounds
type ResizeCause string

// Values of ResizeCause.
const (
	// ResizeCauseRecommendation: the operator followed the VerticalPodAutoscaler.
	ResizeCauseRecommendation ResizeCause = "Recommendation"
	// ResizeCauseBounds: the request was outside the bounds of spec.autoResize.
	ResizeCauseBounds ResizeCause = "Bounds"
)

// ClusterResizeAmounts are an amount of CPU and one of memory. One without bounds in spec.autoResize is empty.
type ClusterResizeAmounts struct {
	// cpu is the amount of CPU, for example 500m.
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory is the amount of memory, for example 2Gi.
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`
}
