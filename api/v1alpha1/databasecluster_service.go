/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// ClusterService configures the Service for clients.
//
// +kubebuilder:validation:XValidation:rule="!has(self.loadBalancerClass) || self.type == 'LoadBalancer'",message="spec.service.loadBalancerClass is only for type LoadBalancer: set spec.service.type to LoadBalancer, or remove it"
// +kubebuilder:validation:XValidation:rule="!has(self.loadBalancerSourceRanges) || self.type == 'LoadBalancer'",message="spec.service.loadBalancerSourceRanges are only for type LoadBalancer: set spec.service.type to LoadBalancer, or remove them"
// +kubebuilder:validation:XValidation:rule="!has(self.externalTrafficPolicy) || self.type in ['NodePort', 'LoadBalancer']",message="spec.service.externalTrafficPolicy is only for types NodePort and LoadBalancer: set spec.service.type to one of them, or remove it"
// +kubebuilder:validation:XValidation:rule="self.type != 'LoadBalancer' || oldSelf.type != 'LoadBalancer' || has(self.loadBalancerClass) == has(oldSelf.loadBalancerClass) && (!has(self.loadBalancerClass) || self.loadBalancerClass == oldSelf.loadBalancerClass)",message="spec.service.loadBalancerClass cannot be changed while spec.service.type is LoadBalancer, because Kubernetes refuses it: set the type to ClusterIP first, which deletes the load balancer"
type ClusterService struct {
	// type is the type of the Service: ClusterIP, NodePort or LoadBalancer. Default: ClusterIP.
	// +optional
	// +kubebuilder:default=ClusterIP
	// +kubebuilder:validation:Enum=ClusterIP;NodePort;LoadBalancer
	Type corev1.ServiceType `json:"type,omitempty"`

	// annotations are added to the Service, for example for the load balancer of a cloud provider. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Annotations map[string]string `json:"annotations,omitempty"`

	// labels are added to the Service. Keys that start with app.kubernetes.io/ or database.dbcluster.io/ are reserved
	// for the operator. Default: none.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(key, !key.startsWith('app.kubernetes.io/') && !key.startsWith('database.dbcluster.io/'))",message="spec.service.labels must not set keys that start with 'app.kubernetes.io/' or 'database.dbcluster.io/': these keys are reserved for the operator"
	Labels map[string]string `json:"labels,omitempty"`

	// loadBalancerClass is the load balancer implementation of a Service of type LoadBalancer, for example
	// "service.k8s.aws/nlb". It cannot be changed while the type is LoadBalancer. Default: the default implementation
	// of the platform.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$')",message="spec.service.loadBalancerClass must be a name with an optional prefix, for example service.k8s.aws/nlb"
	LoadBalancerClass string `json:"loadBalancerClass,omitempty"`

	// loadBalancerSourceRanges are the address ranges from which clients may reach a Service of type LoadBalancer, in
	// CIDR notation, for example "10.0.0.0/8". Not every platform enforces them. Default: all addresses.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=49
	// +kubebuilder:validation:XValidation:rule="self.all(range, isCIDR(range))",message="spec.service.loadBalancerSourceRanges must be address ranges in CIDR notation, for example 10.0.0.0/8"
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`

	// externalTrafficPolicy is Cluster or Local, for the types NodePort and LoadBalancer. Local keeps the address of the
	// client and uses only members on the node that receives the connection. Default: Cluster.
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
}
