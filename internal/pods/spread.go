/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// spreadMembers spreads the members over nodes and zones.
func spreadMembers(cluster *dbv1.DatabaseCluster, spec *corev1ac.PodSpecApplyConfiguration) *corev1ac.PodSpecApplyConfiguration {
	selector := naming.Selector(cluster.Name)
	apartFromMembers(cluster, spec)
	return oneEachNode(cluster, spec, selector).WithTopologySpreadConstraints(topologySpread(cluster, selector)...)
}

// SpreadLikeMembers spreads pods with other labels like the members. The members must run where these pods fill volumes.
func SpreadLikeMembers(cluster *dbv1.DatabaseCluster, spec *corev1ac.PodSpecApplyConfiguration, selector map[string]string) {
	all := topologySpread(cluster, selector)
	for _, constraint := range all {
		constraint.LabelSelector, constraint.MatchLabelKeys = metav1ac.LabelSelector().WithMatchLabels(selector), nil
	}
	oneEachNode(cluster, spec, selector).WithTopologySpreadConstraints(all...)
}

// BesideMembers removes the affinity of the members to pods. With it, no Job of a cluster could run on the only node.
func BesideMembers(spec *corev1ac.PodSpecApplyConfiguration) {
	if spec.Affinity == nil {
		return
	}
	spec.Affinity.PodAffinity, spec.Affinity.PodAntiAffinity = nil, nil
	if spec.Affinity.NodeAffinity == nil {
		spec.Affinity = nil
	}
}

// apartFromMembers restricts each required anti-affinity that selects all pods of the cluster to its members. An anti-affinity applies
// in both directions: otherwise a member would keep Jobs of the cluster away from its node, and a Job a member.
func apartFromMembers(cluster *dbv1.DatabaseCluster, spec *corev1ac.PodSpecApplyConfiguration) {
	if spec.Affinity == nil || spec.Affinity.PodAntiAffinity == nil {
		return
	}
	for i, term := range cluster.Spec.Scheduling.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if selectsJobs(cluster, term.LabelSelector) {
			terms := spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			terms[i].LabelSelector.WithMatchExpressions(metav1ac.LabelSelectorRequirement().
				WithKey(dbv1.LabelComponent).WithOperator(metav1.LabelSelectorOpIn).WithValues(dbv1.ComponentDatabase))
		}
	}
}

// selectsJobs reports whether a selector selects members and Jobs of the cluster, but not every pod.
func selectsJobs(cluster *dbv1.DatabaseCluster, given *metav1.LabelSelector) bool {
	selector, err := metav1.LabelSelectorAsSelector(given)
	if err != nil || selector.Matches(labels.Set{}) {
		return false
	}
	return selector.Matches(labels.Set(naming.Labels(cluster, dbv1.ComponentDatabase))) &&
		selector.Matches(labels.Set(naming.Labels(cluster, dbv1.ComponentConfigure)))
}

// oneEachNode keeps pods with these labels on different nodes if the spec requires it. A spread constraint cannot: with
// more members than nodes, it allows two members on a node.
func oneEachNode(cluster *dbv1.DatabaseCluster, spec *corev1ac.PodSpecApplyConfiguration,
	selector map[string]string) *corev1ac.PodSpecApplyConfiguration {
	if cluster.Spec.Scheduling.Spread.Nodes != dbv1.SpreadRequired {
		return spec
	}
	if spec.Affinity == nil {
		spec.WithAffinity(corev1ac.Affinity())
	}
	if spec.Affinity.PodAntiAffinity == nil {
		spec.Affinity.WithPodAntiAffinity(corev1ac.PodAntiAffinity())
	}
	spec.Affinity.PodAntiAffinity.WithRequiredDuringSchedulingIgnoredDuringExecution(corev1ac.PodAffinityTerm().
		WithTopologyKey(corev1.LabelHostname).
		WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(selector)))
	return spec
}

// topologySpread is soft unless the spec overrides it, so that one node is enough.
func topologySpread(cluster *dbv1.DatabaseCluster, selector map[string]string) []*corev1ac.TopologySpreadConstraintApplyConfiguration {
	scheduling := cluster.Spec.Scheduling
	if given := scheduling.TopologySpreadConstraints; len(given) > 0 {
		return objects.AsEach[corev1ac.TopologySpreadConstraintApplyConfiguration](given)
	}
	constraint := func(key string, when corev1.UnsatisfiableConstraintAction) *corev1ac.TopologySpreadConstraintApplyConfiguration {
		return corev1ac.TopologySpreadConstraint().
			WithMaxSkew(1).
			WithTopologyKey(key).
			WithWhenUnsatisfiable(when).
			WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(selector))
	}
	overZones := corev1.ScheduleAnyway
	if scheduling.Spread.Zones == dbv1.SpreadRequired {
		overZones = corev1.DoNotSchedule
	}
	return []*corev1ac.TopologySpreadConstraintApplyConfiguration{
		constraint(corev1.LabelHostname, corev1.ScheduleAnyway), constraint(corev1.LabelTopologyZone, overZones),
	}
}
