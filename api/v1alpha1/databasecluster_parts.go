/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Storage is the data volume of each member.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.ephemeral) && self.ephemeral && has(self.storageClassName))",message="spec.storage.storageClassName cannot be set together with spec.storage.ephemeral: an ephemeral volume has no storage class"
// +kubebuilder:validation:XValidation:rule="has(self.storageClassName) == has(oldSelf.storageClassName) && (!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)",message="spec.storage.storageClassName cannot be changed: volumes cannot move to another class; restore a backup into a new cluster instead"
// +kubebuilder:validation:XValidation:rule="(has(self.ephemeral) && self.ephemeral) == (has(oldSelf.ephemeral) && oldSelf.ephemeral)",message="spec.storage.ephemeral cannot be changed after creation"
type Storage struct {
	// size is the capacity of each member's volume, for example 10Gi. It can grow while the members run,
	// where the StorageClass allows it, and cannot shrink; a growth that is not done yet can be lowered.
	// For an ephemeral volume it is the most that a member may store.
	// +required
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:text"
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self > 0 : self.matches('^([0-9]{1,18}([.][0-9]{1,3})?([KMGTPE]i|[kMGTPE]|[eE][0-9]{1,2})?|[0-9]{1,18}m)$') && quantity(self).isGreaterThan(quantity('0'))",message="spec.storage.size must be a quantity greater than zero, for example 10Gi"
	Size resource.Quantity `json:"size"`

	// storageClassName is the StorageClass of the volumes. Fixed at creation.
	// Default: the Kubernetes cluster's default class.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:io.kubernetes:StorageClass"
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$`
	StorageClassName *string `json:"storageClassName,omitempty"`

	// ephemeral keeps the data in the pod instead of on a volume of its own, for caches: it is gone
	// when the pod is. Fixed at creation. Default: false.
	// +optional
	// +operator-sdk:csv:customresourcedefinitions:type=spec,xDescriptors="urn:alm:descriptor:com.tectonic.ui:booleanSwitch"
	Ephemeral *bool `json:"ephemeral,omitempty"`
}

// Probes tell Kubernetes when a member has started, is ready, is alive.
type Probes struct {
	// startup holds the other two back until the member has started.
	// +optional
	Startup *corev1.Probe `json:"startup,omitempty"`

	// readiness decides whether the Service sends connections to the member, and whether it counts as ready.
	// +optional
	Readiness *corev1.Probe `json:"readiness,omitempty"`

	// liveness restarts the container when it fails. It should never depend on other members.
	// +optional
	Liveness *corev1.Probe `json:"liveness,omitempty"`
}

// Service shapes the Service in front of all members.
type Service struct {
	// type is how the Service is reached: ClusterIP, NodePort or LoadBalancer. Default: ClusterIP.
	// +optional
	// +kubebuilder:default=ClusterIP
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`

	// annotations are set on the Service, for example those that a cloud's load balancer reads.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Scheduling says on which nodes members run.
type Scheduling struct {
	// nodeSelector are labels that a node must carry.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// affinity are further rules about nodes and other pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// tolerations let members run on tainted nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// topologySpreadConstraints say how members spread. Default: over nodes and over zones, as far as
	// that is possible.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName is the PriorityClass of the members. Default: the Kubernetes cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// UpdateType is who restarts members for a change.
type UpdateType string

const (
	// UpdateRolling lets the operator restart members one by one.
	UpdateRolling UpdateType = "RollingUpdate"
	// UpdateOnDelete leaves it to the user, who deletes the pods.
	UpdateOnDelete UpdateType = "OnDelete"
)

// Update says how a change reaches the members that run: those that are broken first, then from the
// highest ordinal.
type Update struct {
	// type is who restarts members: RollingUpdate lets the operator do it, OnDelete leaves it to the user,
	// who deletes the pods. Default: RollingUpdate.
	// +optional
	// +kubebuilder:default=RollingUpdate
	// +kubebuilder:validation:Enum=RollingUpdate;OnDelete
	Type UpdateType `json:"type,omitempty"`

	// paused stops a rollout where it is; members that restart for other reasons take the change.
	// Default: false.
	// +optional
	Paused bool `json:"paused,omitempty"`

	// maxUnavailable is how many members may be down at once because of a rollout, 1 to 8. Default: 1.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=8
	MaxUnavailable int32 `json:"maxUnavailable,omitempty"`

	// minReadySeconds is how long a member must have been ready before the next one is restarted, in
	// seconds, 0 to 3600. Default: 10.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	MinReadySeconds *int32 `json:"minReadySeconds,omitempty"`
}
