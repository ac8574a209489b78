/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	networkingv1 "k8s.io/api/networking/v1"
)

// ClusterNetworkPolicyMode selects whether a cluster has a NetworkPolicy.
type ClusterNetworkPolicyMode string

const (
	// NetworkPolicyManaged means that the operator creates a NetworkPolicy and keeps it up to date.
	NetworkPolicyManaged ClusterNetworkPolicyMode = "Managed"
	// NetworkPolicyNone means that the operator creates none and deletes its own.
	NetworkPolicyNone ClusterNetworkPolicyMode = "None"
)

// ClusterNetworkPolicy restricts who may connect to the members. It has an effect only where the network plugin enforces
// NetworkPolicies.
//
// +kubebuilder:validation:XValidation:rule="!has(self.from) || !has(self.mode) || self.mode != 'None'",message="spec.networkPolicy.from has no effect with mode None: remove from, or set the mode to Managed"
type ClusterNetworkPolicy struct {
	// mode is Managed or None. With Managed the operator creates a NetworkPolicy that has the name of the cluster.
	// With None it deletes that policy. A change restarts no member. Default: Managed.
	// +optional
	// +kubebuilder:default=Managed
	// +kubebuilder:validation:Enum=Managed;None
	Mode ClusterNetworkPolicyMode `json:"mode,omitempty"`

	// from are the peers that may connect to the client port, 1 to 16. A podSelector without a namespaceSelector
	// selects pods of the cluster's own namespace. Members, companions and the Jobs of the operator may always connect. A companion of
	// the engine, such as a pooler, admits the same peers.
	// A change restarts no member. Default: all clients.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:XValidation:rule="self.all(p, has(p.podSelector) || has(p.namespaceSelector) || has(p.ipBlock))",message="spec.networkPolicy.from[] must not be empty: set podSelector, namespaceSelector or ipBlock. To allow all clients, remove from"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.ipBlock) || !has(p.podSelector) && !has(p.namespaceSelector))",message="spec.networkPolicy.from[] must not have ipBlock together with podSelector or namespaceSelector: use two entries"
	// +kubebuilder:validation:XValidation:rule="self.all(p, !has(p.ipBlock) || isCIDR(p.ipBlock.cidr))",message="spec.networkPolicy.from[].ipBlock.cidr must be an address range, for example 10.0.0.0/8 or 2001:db8::/32"
	From []networkingv1.NetworkPolicyPeer `json:"from,omitempty"`
}
