/*
SPDX-License-Identifier: Apache-2.0
*/

// Package network restricts who may connect to the members, by a NetworkPolicy.
package network

import (
	networkingv1 "k8s.io/api/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject is the NetworkPolicy of the members.
var Subject = subject.Subject{Read: read, Decide: decide, Watches: subject.Watches{Objects: watches}}

// decide writes the policy, or deletes it if the spec asks for none. A deletion leaves it to the garbage collector.
func decide(s *situation.Situation) subject.Decision {
	policy := s.NetworkPolicy
	switch {
	case s.Deleting():
		return subject.Decision{}
	case s.Cluster.Spec.NetworkPolicy.Mode == dbv1.NetworkPolicyNone && policy != nil && policy.DeletionTimestamp == nil:
		kind := networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")
		unwanted := operation.TargetOf(kind, policy).Because("spec.networkPolicy.mode is None")
		work := operation.Work{Is: operation.Properties{LiveRead: true, Applies: true}, Text: "delete "}
		return subject.Decision{Operations: operation.Deletions(work, []operation.Removal{unwanted})}
	case s.Cluster.Spec.NetworkPolicy.Mode == dbv1.NetworkPolicyNone:
		return subject.Decision{}
	}
	child := Render(s.Cluster)
	if apply, needed := operation.ApplyOf(child, policy); needed && !s.OwnedByAnother(child.Kind(), child.Name()) {
		return subject.Decision{Operations: operation.List{apply}}
	}
	return subject.Decision{}
}
