/*
SPDX-License-Identifier: Apache-2.0
*/

package network

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	networkingv1ac "k8s.io/client-go/applyconfigurations/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// connecting are the components of members, and of the Jobs that versions before the label LabelConnects created. Do not add to it: it
// would rewrite the policy of each cluster.
var connecting = []string{
	dbv1.ComponentBackup, dbv1.ComponentConfigure, dbv1.ComponentRotation, dbv1.ComponentHook, dbv1.ComponentHandOver,
	dbv1.ComponentMemberRemove,
	dbv1.ComponentReload, dbv1.ComponentRestore, dbv1.ComponentDatabase,
}

// Render lets the peers that the spec allows connect to the client port of the members, and all clients to the
// declared ports of sidecars. Every port is open to the other members and to Jobs of this cluster that need it. A
// selector of pods without one of namespaces selects only pods of the same namespace, so the labels of pods in other
// namespaces have no effect.
func Render(cluster *dbv1.DatabaseCluster) objects.Child {
	components := metav1ac.LabelSelectorRequirement().WithKey(dbv1.LabelComponent).WithOperator(metav1.LabelSelectorOpIn).WithValues(
		connecting...)
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
			networkingv1ac.NetworkPolicyIngressRule().WithFrom(clients(cluster)...).WithPorts(port(intstr.FromString(naming.Port))))
	if declared := sidecarPorts(cluster); len(declared) > 0 { // a rule without ports would allow them all
		spec.WithIngress(networkingv1ac.NetworkPolicyIngressRule().WithPorts(declared...))
	}
	if metrics := metricsRule(cluster); metrics != nil {
		spec.WithIngress(metrics)
	}
	child := objects.New(networkingv1ac.NetworkPolicy(naming.NetworkPolicy(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithSpec(spec), []string{"spec"})
	child.Exact = true
	return child
}

// clients are the peers that the spec allows, and the companions of the cluster; none for all clients.
func clients(cluster *dbv1.DatabaseCluster) []*networkingv1ac.NetworkPolicyPeerApplyConfiguration {
	all := objects.AsEach[networkingv1ac.NetworkPolicyPeerApplyConfiguration](cluster.Spec.NetworkPolicy.From)
	if len(all) == 0 {
		return nil
	}
	selector := naming.Selector(cluster.Name)
	selector[dbv1.LabelComponent] = dbv1.ComponentCompanion
	return append(all, networkingv1ac.NetworkPolicyPeer().WithPodSelector(metav1ac.LabelSelector().WithMatchLabels(selector)))
}

// metricsRule lets the peers of spec.monitoring.from connect to the port of the metrics, which the database or the exporter serves; nil
// without metrics.
func metricsRule(cluster *dbv1.DatabaseCluster) *networkingv1ac.NetworkPolicyIngressRuleApplyConfiguration {
	monitoring := cluster.Spec.Monitoring
	if !engine.Monitored(cluster) || monitoring.Port == 0 {
		return nil
	}
	return networkingv1ac.NetworkPolicyIngressRule().
		WithFrom(objects.AsEach[networkingv1ac.NetworkPolicyPeerApplyConfiguration](monitoring.From)...).
		WithPorts(port(intstr.FromInt32(monitoring.Port)))
}

// sidecarPorts are the declared ports of the sidecars of spec.pod.
func sidecarPorts(cluster *dbv1.DatabaseCluster) []*networkingv1ac.NetworkPolicyPortApplyConfiguration {
	var all []*networkingv1ac.NetworkPolicyPortApplyConfiguration
	for _, sidecar := range cluster.Spec.Pod.Sidecars {
		if sidecar.Name == naming.ExporterContainer {
			continue // see metricsRule
		}
		for _, declared := range sidecar.Ports {
			all = append(all, port(intstr.FromInt32(declared.ContainerPort)))
		}
	}
	return all
}

func port(number intstr.IntOrString) *networkingv1ac.NetworkPolicyPortApplyConfiguration {
	return networkingv1ac.NetworkPolicyPort().WithProtocol(corev1.ProtocolTCP).WithPort(number)
}
