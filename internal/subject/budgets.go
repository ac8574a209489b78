/*
SPDX-License-Identifier: Apache-2.0
*/

package subject

import (
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// ofOthers reports whether a PodDisruptionBudget is not one of the operator.
func ofOthers(budget metav1.Object) bool {
	name, all := budget.GetName(), budget.GetLabels()
	ours := all[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue
	return !ours || !IsBudgetOf(all[dbv1.LabelInstance], name) && all[dbv1.LabelCompanion] != name
}

// IsBudgetOf reports whether the operator gives that name to a PodDisruptionBudget of the cluster.
func IsBudgetOf(cluster, name string) bool {
	return name == naming.PodDisruptionBudget(cluster) || name == naming.PrimaryBudget(cluster)
}

// OthersThatSelect are the names of the PodDisruptionBudgets that select a pod, without the owner's, which may have lost their labels.
func OthersThatSelect(budgets []policyv1.PodDisruptionBudget, pods []state.Member, own func(name string) bool) []string {
	var all []string
	for i := range budgets {
		if name := budgets[i].Name; !own(name) && ofOthers(&budgets[i]) && selectsAny(&budgets[i], pods) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

func selectsAny(budget *policyv1.PodDisruptionBudget, pods []state.Member) bool {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && slices.ContainsFunc(pods, func(m state.Member) bool { return selector.Matches(labels.Set(m.Labels)) })
}
