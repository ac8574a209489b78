/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// admits writes the NetworkPolicy of the pods. A companion of the engine connects for its clients, so it admits those that the cluster
// admits. An application has clients of its own.
func admits(companion *dbv1.DatabaseCompanion, seen CompanionFacts) operation.List {
	cluster := seen.Cluster
	if cluster == nil {
		return nil
	}
	given := cluster.Spec.NetworkPolicy
	restricts := companion.Spec.Companion != "" && given.Mode != dbv1.NetworkPolicyNone && len(given.From) > 0
	switch {
	case restricts:
		return needed(networkPolicy(companion, clients(cluster)), seen.Policy, seen)
	case seen.Policy != nil: // one that admits everyone is as good as none
		return needed(networkPolicy(companion, networkingv1ac.NetworkPolicyIngressRule()), seen.Policy, seen)
	default:
		return nil
	}
}

// clients are the peers that the cluster admits, with its other companions, and its Jobs, which pause clients.
func clients(cluster *dbv1.DatabaseCluster) *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration {
	beside := naming.Selector(cluster.Name)
	beside[dbv1.LabelComponent] = dbv1.ComponentCompanion
	jobs := naming.Selector(cluster.Name)
	delete(jobs, dbv1.LabelComponent)
	jobs[dbv1.LabelConnects] = "true"
	return networkingv1ac.NetworkPolicyIngressRule().
		WithFrom(objects.AsEach[networkingv1ac.NetworkPolicyPeerApplyConfiguration](cluster.Spec.NetworkPolicy.From)...).
		WithFrom(peer(beside), peer(jobs)).
		WithPorts(networkingv1ac.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromString(naming.CompanionPort)))
}

func peer(labels map[string]string) *networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	return networkingv1ac.NetworkPolicyPeer().WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(labels))
}

func networkPolicy(companion *dbv1.DatabaseCompanion, rule *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration) objects.Child {
	child := objects.New(networkingv1ac.NetworkPolicy(companion.Name, companion.Namespace).
		WithLabels(labels(companion)).
		WithOwnerReferences(owner(companion)).
		WithSpec(networkingv1ac.NetworkPolicySpec().
			WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(selector(companion))).
			WithPolicyTypes(networkingv1.PolicyTypeIngress).
			WithIngress(rule)), []string{"spec"})
	child.Exact = true
	return child
}
