/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// PodDisruptionBudget lets a drain evict one member at a time. A drain may always evict a member that is not ready:
// it serves no clients, and would otherwise block the drain of its node.
func PodDisruptionBudget(cluster *dbv1.DatabaseCluster) objects.Child {
	return budget(cluster, naming.PodDisruptionBudget(cluster.Name), 1, metav1ac.LabelSelector())
}

// ReplicasBudget is the same budget while the primary has its own: Kubernetes evicts no pod that two budgets select. It counts the members
// of the StatefulSet, so the primary is always one that is missing.
func ReplicasBudget(cluster *dbv1.DatabaseCluster, roles *dbv1.EngineRoles) objects.Child {
	return budget(cluster, naming.PodDisruptionBudget(cluster.Name), 2, metav1ac.LabelSelector().WithMatchExpressions(
		metav1ac.LabelSelectorRequirement().WithKey(roles.Label).WithOperator(metav1.LabelSelectorOpNotIn).WithValues(roles.Primary)))
}

// PrimaryBudget keeps a drain from evicting the primary.
func PrimaryBudget(cluster *dbv1.DatabaseCluster, roles *dbv1.EngineRoles) objects.Child {
	return budget(cluster, naming.PrimaryBudget(cluster.Name), 0, metav1ac.LabelSelector().WithMatchExpressions(
		metav1ac.LabelSelectorRequirement().WithKey(roles.Label).WithOperator(metav1.LabelSelectorOpIn).WithValues(roles.Primary)))
}

func budget(cluster *dbv1.DatabaseCluster, name string, unavailable int32,
	members *metav1ac.LabelSelectorApplyConfiguration) objects.Child {
	return objects.New(policyv1ac.PodDisruptionBudget(name, cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(unavailable)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(members.WithMatchLabels(naming.Selector(cluster.Name)))), []string{"spec"})
}
