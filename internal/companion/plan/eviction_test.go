/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestACompanionReportsOtherBudgetsThatSelectItsPods(t *testing.T) {
	c, seen := pooler()
	seen = standing(t, c, withEngine(seen))
	for _, others := range [][]string{nil, {"every-deployment"}} {
		seen.OtherBudgets = others
		status := StatusOf(c, seen, For(c, seen), nil, metav1.NewTime(plans.Now))
		got := meta.FindStatusCondition(status.Conditions, dbv1.ConditionEvictionBlocked)
		if blocked := got.Status == metav1.ConditionTrue; blocked != (others != nil) || !strings.Contains(got.Message, strings.Join(others, "")) {
			t.Errorf("%v: %s %s: %s", others, got.Status, got.Reason, got.Message)
		}
		if !meta.IsStatusConditionTrue(status.Conditions, dbv1.ConditionReady) {
			t.Errorf("%v: the pods are ready all the same", others)
		}
	}
}
