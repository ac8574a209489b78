/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	policyv1 "k8s.io/api/policy/v1"
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
	return objects.New(policyv1ac.PodDisruptionBudget(naming.PodDisruptionBudget(cluster.Name), cluster.Namespace).
		WithLabels(naming.Labels(cluster, dbv1.ComponentDatabase)).
		WithOwnerReferences(objects.OwnedBy(cluster)).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(naming.Selector(cluster.Name)))), []string{"spec"})
}
