/*
SPDX-License-Identifier: Apache-2.0
*/

package network

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete

var watches = []kit.Watch{{Object: &networkingv1.NetworkPolicy{}, When: kit.Filter(state.NetworkPolicyFacts), Delay: subject.RepairDelay}}

// read reads the policy of the members. A cluster that needs none ignores those of other owners.
func read(ctx context.Context, o *subject.ClusterReading) {
	others := o.Foreign
	o.NetworkPolicy = subject.Child(ctx, o, state.Ref{
		Kind: "NetworkPolicy", Name: naming.NetworkPolicy(o.Cluster.Name), Remedy: "set spec.networkPolicy.mode to None",
	}, state.NetworkPolicyFacts)
	if o.Cluster.Spec.NetworkPolicy.Mode == dbv1.NetworkPolicyNone {
		o.Foreign = others
	}
}
