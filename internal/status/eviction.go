/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// SeveralBudgets reports PodDisruptionBudgets of others that select pods of the operator.
func SeveralBudgets(pod string, others []string) metav1.Condition {
	return condition(dbv1.ConditionEvictionBlocked, true, dbv1.ReasonSeveralBudgets, fmt.Sprintf(
		"Kubernetes refuses to evict a %[1]s, and so to drain its node: beside the PodDisruptionBudget of the operator, others select %[1]ss: "+
			"%[2]s. Delete them, or exclude pods with the label %[3]s=%[4]s from their selectors", pod, strings.Join(others, ", "),
		dbv1.LabelName, dbv1.LabelNameValue))
}

// evictionBlocked reports PodDisruptionBudgets of others: Kubernetes refuses to evict a pod that more than one selects. It also reports a
// drain that waits, because no member on another node can take over from the primary.
func (p PassResult) evictionBlocked() metav1.Condition {
	const kind = dbv1.ConditionEvictionBlocked
	primary, drained := p.Drained()
	switch {
	case len(p.OtherBudgets) > 0:
		return SeveralBudgets("member", p.OtherBudgets)
	case drained && p.PrimaryBudget != nil && p.GuardsPrimary() && len(p.Refuges()) == 0:
		return condition(kind, true, dbv1.ReasonNoMemberElsewhere, fmt.Sprintf(
			"node %s %s: a drain cannot evict the primary %s yet, because no member on another node is ready to take over. "+
				"It waits until one is, but at most %.0f minutes", primary.Node, primary.Leaves, primary.Name,
			situation.DrainTimeout.Minutes()))
	case drained && p.MovesPrimary() && (p.DrainLeft() == 0 || p.Wanders()):
		return condition(kind, false, dbv1.ReasonOneBudget, fmt.Sprintf(
			"node %s %s: a drain evicts the primary %s, because no member on another node has taken over in time", primary.Node,
			primary.Leaves, primary.Name))
	case p.blind():
		return condition(kind, false, dbv1.ReasonOneBudget, "only the PodDisruptionBudget of the operator selects the members. "+
			"The operator may not list nodes, so hand-overs do not avoid cordoned nodes. Grant it get, list and watch of nodes, then restart it")
	default:
		return condition(kind, false, dbv1.ReasonOneBudget, "only the PodDisruptionBudget of the operator selects the members")
	}
}

// blind reports whether the operator cannot know that a node is drained, although that concerns the members.
func (p PassResult) blind() bool { return p.NodesUnread && p.MovesPrimary() }
