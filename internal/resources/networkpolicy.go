/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

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

// Seclusion allows the selected pods to connect to some peers only, and no pod to connect to them.
type Seclusion struct {
	Namespace, Name string
	Labels          map[string]string
	Owner           *metav1ac.OwnerReferenceApplyConfiguration
	// Pods are labels that select the pods.
	Pods map[string]string
	// Egress are the only peers that they may connect to.
	Egress []Egress
}

// Egress are peers and the ports at which pods may connect to them. Without a peer it allows nothing.
type Egress struct {
	// EveryPod is every pod of the Kubernetes cluster.
	EveryPod bool
	// PodsOf is a namespace. The pods may connect to every pod there that the operator does not manage; "" for none.
	PodsOf string
	// Blocks are address ranges.
	Blocks []Block
	// UDP and TCP are the ports. Without ports it allows every port.
	UDP, TCP []int32
}

// Block is an address range in CIDR notation, with exceptions.
type Block struct {
	CIDR   string
	Except []string
}

// SeclusionPolicy builds the policy of a seclusion. It has an effect only if the network plugin enforces such
// policies.
func SeclusionPolicy(s Seclusion) objects.Child {
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(s.Pods)).
		WithPolicyTypes(networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
	for _, out := range s.Egress {
		if peers := out.peers(); len(peers) > 0 { // a rule without a peer would allow them all
			spec.WithEgress(networkingv1ac.NetworkPolicyEgressRule().WithTo(peers...).WithPorts(out.ports()...))
		}
	}
	policy := networkingv1ac.NetworkPolicy(s.Name, s.Namespace).WithLabels(s.Labels).WithSpec(spec)
	if s.Owner != nil {
		policy.WithOwnerReferences(s.Owner)
	}
	return objects.New(policy)
}

func (e Egress) peers() []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	var all []*networkingv1ac.NetworkPolicyPeerApplyConfiguration
	if e.EveryPod {
		all = append(all, networkingv1ac.NetworkPolicyPeer().WithNamespaceSelector(metav1ac.LabelSelector()))
	}
	if e.PodsOf != "" {
		databases := metav1ac.LabelSelectorRequirement().WithKey(dbv1.LabelName).WithOperator(metav1.LabelSelectorOpNotIn).WithValues(dbv1.LabelNameValue)
		all = append(all, networkingv1ac.NetworkPolicyPeer().
			WithNamespaceSelector(metav1ac.LabelSelector().WithMatchLabels(map[string]string{corev1.LabelMetadataName: e.PodsOf})).
			WithPodSelector(metav1ac.LabelSelector().WithMatchExpressions(databases)))
	}
	for _, block := range e.Blocks {
		all = append(all, networkingv1ac.NetworkPolicyPeer().WithIPBlock(networkingv1ac.IPBlock().WithCIDR(block.CIDR).WithExcept(block.Except...)))
	}
	return all
}

func (e Egress) ports() []*networkingv1ac.NetworkPolicyPortApplyConfiguration {
	all := make([]*networkingv1ac.NetworkPolicyPortApplyConfiguration, 0, len(e.UDP)+len(e.TCP))
	for _, number := range e.UDP {
		all = append(all, port(corev1.ProtocolUDP, intstr.FromInt32(number)))
	}
	for _, number := range e.TCP {
		all = append(all, port(corev1.ProtocolTCP, intstr.FromInt32(number)))
	}
	return all
}

// connecting are the components of members, and of the Jobs that versions before the label LabelConnects created. Do not add to it: it would
// rewrite the policy of each cluster.
var connecting = []string{
	dbv1.ComponentBackup, dbv1.ComponentConfigure, dbv1.ComponentRotation, dbv1.ComponentHook, dbv1.ComponentHandOver, dbv1.ComponentMemberRemove,
	dbv1.ComponentReload, dbv1.ComponentRestore, dbv1.ComponentDatabase,
}

// NetworkPolicy lets the peers that the spec allows connect to the client port of the members, and all clients to the
// declared ports of sidecars. Every port is open to the other members and to Jobs of this cluster that need it. A
// selector of pods without one of namespaces selects only pods of the same namespace, so the labels of pods in other
// namespaces have no effect.
func NetworkPolicy(cluster *dbv1.DatabaseCluster) objects.Child {
	components := metav1ac.LabelSelectorRequirement().WithKey(dbv1.LabelComponent).WithOperator(metav1.LabelSelectorOpIn).WithValues(connecting...)
	selector := naming.Selector(cluster.Name)
	delete(selector, dbv1.LabelComponent)
	ours := networkingv1ac.NetworkPolicyPeer().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(selector).WithMatchExpressions(components))
	admitted := networkingv1ac.NetworkPolicyPeer().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(selector).WithMatchLabels(map[string]string{dbv1.LabelConnects: "true"}))
	spec := networkingv1ac.NetworkPolicySpec().
		WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(naming.Selector(cluster.Name))).
		WithPolicyTypes(networkingv1.PolicyTypeIngress).
		WithIngress(
			networkingv1ac.NetworkPolicyIngressRule().WithFrom(ours, admitted),
			networkingv1ac.NetworkPolicyIngressRule().
				WithFrom(objects.AsEach[networkingv1ac.NetworkPolicyPeerApplyConfiguration](cluster.Spec.NetworkPolicy.From)...).
				WithPorts(port(corev1.ProtocolTCP, intstr.FromString(naming.Port))))
	if declared := sidecarPorts(cluster); len(declared) > 0 { // a rule without ports would allow them all
		spec.WithIngress(networkingv1ac.NetworkPolicyIngressRule().WithPorts(declared...))
	}
	child := objects.New(networkingv1ac.NetworkPolicy(naming.NetworkPolicy(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithSpec(spec), []string{"spec"})
	child.Exact = true
	return child
}

// sidecarPorts are the declared ports of sidecars, such as that of a metrics exporter.
func sidecarPorts(cluster *dbv1.DatabaseCluster) []*networkingv1ac.NetworkPolicyPortApplyConfiguration {
	var all []*networkingv1ac.NetworkPolicyPortApplyConfiguration
	for _, sidecar := range cluster.Spec.Pod.Sidecars {
		for _, declared := range sidecar.Ports {
			all = append(all, port(corev1.ProtocolTCP, intstr.FromInt32(declared.ContainerPort)))
		}
	}
	return all
}

func port(protocol corev1.Protocol, number intstr.IntOrString) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(protocol).WithPort(number)
}
