/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// policy isolates the copies of a backup. They have real data and real passwords, so clients must not mistake them
// for the database, and they must not reach its peers. They may connect only to the DNS of the cluster and to the
// destination. It has an effect only if the network plugin enforces such policies.
func (s situation) policy() objects.Child {
	backup := s.backup
	copies := map[string]string{dbv1.LabelComponent: dbv1.ComponentVerification, dbv1.LabelBackupUID: string(backup.UID)}
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(copies)).
		WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	for _, out := range append([]egress{dns(s.NameServers)}, toDestination(backup.Namespace, backup.Status.Destination)...) {
		if peers := out.peers(); len(peers) > 0 { // a rule without a peer would allow them all
			spec.WithEgress(networkingv1ac.NetworkPolicyEgressRule().WithTo(peers...).WithPorts(out.ports()...))
		}
	}
	return objects.New(networkingv1ac.NetworkPolicy(s.policyName(), backup.Namespace).
		WithLabels(naming.BackupJobLabels(backup, dbv1.ComponentVerification)).
		WithOwnerReferences(ownedBy(backup)).
		WithSpec(spec))
}

func (s situation) policyName() string {
	return naming.VerificationPolicy(s.backup.Spec.Cluster, s.backup.UID)
}

// egress are peers and the ports at which pods may connect to them. Without a peer it allows nothing.
type egress struct {
	// EveryPod is every pod of the Kubernetes cluster.
	EveryPod bool
	// PodsOf is a namespace. The pods may connect to every pod there that the operator does not manage; "" for none.
	PodsOf string
	// Blocks are address ranges.
	Blocks []block
	// UDP and TCP are the ports. Without ports it allows every port.
	UDP, TCP []int32
}

// block is an address range in CIDR notation, with exceptions.
type block struct {
	CIDR   string
	Except []string
}

func (e egress) peers() []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	var all []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	if e.EveryPod {
		all = append(all, networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector()))
	}
	if e.PodsOf != "" {
		databases := metav1ac.LabelSelectorRequirement().WithKey(dbv1.LabelName).WithOperator(metav1.LabelSelectorOpNotIn).WithValues(
			dbv1.LabelNameValue)
		all = append(all, networkingv1ac.NetworkPolicyPeer().
			WithNamespaceSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: e.PodsOf})).
			WithPodSelector(metav1ac.LabelSelector().WithMatchExpressions(databases)))
	}
	for _, block := range e.Blocks {
		all = append(all,
			networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR(block.CIDR).WithExcept(block.Except...)))
	}
	return all
}

func (e egress) ports() []*networkingv1ac.NetworkPolicyPortApplyConfiguration {
	all := make([]*networkingv1ac.NetworkPolicyPortApplyConfiguration, 0, len(e.UDP)+len(e.TCP))
	for _, number := range e.UDP {
		all = append(all, networkingv1ac.NetworkPolicyPort().WithProtocol(corev1.ProtocolUDP).WithPort(intstr.FromInt32(number)))
	}
	for _, number := range e.TCP {
		all = append(all, networkingv1ac.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(intstr.FromInt32(number)))
	}
	return all
}
