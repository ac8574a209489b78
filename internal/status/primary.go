/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// primary is the pod of the only ready primary; "" for none.
func (p PassResult) primary() string {
	primary, _ := p.Primary()
	return primary.Name
}

// unreported is the condition of ready members that have had no primary for longer than they need for an election.
func (p PassResult) unreported() (degraded metav1.Condition, is bool) {
	if left, overdue := p.PrimaryOverdue(); !overdue || left > 0 {
		return metav1.Condition{}, false
	}
	var names []string
	for _, m := range p.Members {
		if m.Serving(p.At) {
			names = append(names, m.Name)
		}
	}
	return condition(dbv1.ConditionDegraded, true, dbv1.ReasonNoPrimary, fmt.Sprintf(
		"members are ready (%s), but for %s none of them has the label %s of the primary. See the log: kubectl -n %s logs %s -c %s. "+
			"If the API server refuses the label with the status 403, an admission policy or webhook changes the pods. Exclude pods with the "+
			"label %s=%s from it",
		strings.Join(names, ", "), p.TakeOver(), p.Engine.Spec.Roles.Label, p.Cluster.Namespace, names[0], naming.Container, dbv1.LabelName,
		dbv1.LabelNameValue)), true
}

// splitBrainSuspected is Unknown while two primaries may only be the moment of a hand-over.
func (p PassResult) splitBrainSuspected() metav1.Condition {
	if !p.SplitBrain() {
		return condition(dbv1.ConditionSplitBrainSuspected, false, dbv1.ReasonOnePrimary,
			"at most one ready member reports that it is the primary")
	}
	suspected := condition(dbv1.ConditionSplitBrainSuspected, true, dbv1.ReasonTwoPrimaries, p.Plan.Message)
	if !p.SplitBrainLasts() {
		suspected.Status = metav1.ConditionUnknown
	}
	return suspected
}
