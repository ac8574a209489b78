/*
SPDX-License-Identifier: Apache-2.0
*/

package subject

import (
	"slices"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func TestWhichBudgetsAreOfOthersAndSelectAPod(t *testing.T) {
	budget := func(name string, labels, selects map[string]string) policyv1.PodDisruptionBudget {
		return policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
			Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: selects}}}
	}
	managed := func(more ...string) map[string]string {
		return map[string]string{dbv1.LabelManagedBy: dbv1.LabelManagedByValue, more[0]: more[1]}
	}
	all := map[string]string{}
	budgets := []policyv1.PodDisruptionBudget{
		budget("orders", managed(dbv1.LabelInstance, "orders"), all),
		budget("pool", managed(dbv1.LabelCompanion, "pool"), all),
		budget("every-pod", nil, all),
		budget("another", nil, map[string]string{"app": "another"}),
		budget("web", nil, map[string]string{"app": "web"}),
		budget("without-labels", nil, all),
		budget("copied", managed(dbv1.LabelCompanion, "pool"), all),
	}
	pods := []state.Member{{Labels: map[string]string{"app": "web"}}}
	got := OthersThatSelect(budgets, pods, func(name string) bool { return name == "without-labels" })
	if want := []string{"copied", "every-pod", "web"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
