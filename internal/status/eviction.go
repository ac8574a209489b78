/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// evictionBlocked reports PodDisruptionBudgets of others: Kubernetes refuses to evict a pod that more than one selects.
func (p PassResult) evictionBlocked() metav1.Condition {
	const kind = dbv1.ConditionEvictionBlocked
	if len(p.OtherBudgets) == 0 {
		return condition(kind, false, dbv1.ReasonOneBudget, "only the PodDisruptionBudget of the operator selects the members")
	}
	return condition(kind, true, dbv1.ReasonSeveralBudgets, fmt.Sprintf(
		"Kubernetes refuses to evict a member, and so to drain its node: beside the PodDisruptionBudget of the operator, others select "+
			"members: %s. "+
			"Delete them, or exclude pods with the label %s=%s from their selectors", strings.Join(p.OtherBudgets, ", "), dbv1.LabelName,
		dbv1.LabelNameValue))
}
