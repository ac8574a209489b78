/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// HeadlessService gives each member a DNS name, even before the member is ready. Members of one database use it to
// find each other while they start.
func HeadlessService(cluster *dbv1.DatabaseCluster) objects.Child {
	return newService(corev1ac.Service(naming.HeadlessService(cluster.Name), cluster.Namespace), cluster,
		servicePorts(cluster, naming.Selector(cluster.Name)).
			WithType(corev1.ServiceTypeClusterIP).
			WithClusterIP(corev1.ClusterIPNone).
			WithPublishNotReadyAddresses(true),
		[]string{"spec", "clusterIP"})
}

// Service routes to the ready primary of an engine with roles, and otherwise to all ready members. A load balancer gets its class and
// source ranges together with its type: the API server refuses a later change of the class, and until a later write of the ranges the
// database would be open. So the ranges belong to the operator completely, and the class does if the spec names one: a platform may set
// its own.
func Service(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) objects.Child {
	given, selector := cluster.Spec.Service, naming.Selector(cluster.Name)
	if engine.HasRoles(declared) {
		selector[declared.Spec.Roles.Label] = declared.Spec.Roles.Primary
	}
	spec := servicePorts(cluster, selector).
		WithType(given.Type).
		WithPublishNotReadyAddresses(false).
		WithInternalTrafficPolicy(corev1.ServiceInternalTrafficPolicyCluster).
		WithSessionAffinity(corev1.ServiceAffinityNone).
		WithLoadBalancerSourceRanges(given.LoadBalancerSourceRanges...)
	whole := [][]string{{"spec", "loadBalancerSourceRanges"}}
	if given.LoadBalancerClass != "" {
		spec.WithLoadBalancerClass(given.LoadBalancerClass)
		whole = append(whole, []string{"spec", "loadBalancerClass"})
	}
	if given.ExternalTrafficPolicy != "" {
		spec.WithExternalTrafficPolicy(given.ExternalTrafficPolicy)
	}
	return newService(corev1ac.Service(naming.Service(cluster.Name), cluster.Namespace).
		WithLabels(given.Labels).
		WithAnnotations(given.Annotations), cluster, spec, whole...)
}

// ReplicasService routes to the ready replicas of an engine with roles, for clients that only read.
func ReplicasService(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) objects.Child {
	selector := naming.Selector(cluster.Name)
	selector[declared.Spec.Roles.Label] = declared.Spec.Roles.Replica
	return newService(corev1ac.Service(naming.ReplicasService(cluster.Name), cluster.Namespace), cluster,
		servicePorts(cluster, selector).
			WithType(corev1.ServiceTypeClusterIP).
			WithPublishNotReadyAddresses(false).
			WithInternalTrafficPolicy(corev1.ServiceInternalTrafficPolicyCluster).
			WithSessionAffinity(corev1.ServiceAffinityNone))
}

func newService(service *corev1ac.ServiceApplyConfiguration, cluster *dbv1.DatabaseCluster, spec *corev1ac.ServiceSpecApplyConfiguration,
	whole ...[]string) objects.Child {
	whole = append(whole, []string{"spec", "selector"}, []string{"spec", "ports"}, []string{"spec", "type"}, []string{"spec", "externalName"})
	return objects.New(service.
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithSpec(spec), whole...)
}

func servicePorts(cluster *dbv1.DatabaseCluster, selector map[string]string) *corev1ac.ServiceSpecApplyConfiguration {
	return corev1ac.ServiceSpec().
		WithSelector(selector).
		WithPorts(corev1ac.ServicePort().
			WithName(naming.Port).
			WithPort(cluster.Spec.Container.Port).
			WithProtocol(corev1.ProtocolTCP).
			WithTargetPort(intstr.FromString(naming.Port)))
}
