/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// primary is the pod of the only ready primary; "" for none.
func (p Pass) primary() string {
	primary, _ := p.Primary()
	return primary.Name
}

// splitBrainSuspected is Unknown while two primaries may only be the moment of a hand-over.
func (p Pass) splitBrainSuspected() metav1.Condition {
	if !p.SplitBrain() {
		return condition(dbv1.ConditionSplitBrainSuspected, false, dbv1.ReasonOnePrimary, "at most one ready member reports that it is the primary")
	}
	suspected := condition(dbv1.ConditionSplitBrainSuspected, true, dbv1.ReasonTwoPrimaries, p.Plan.Message)
	if !p.SplitBrainLasts() {
		suspected.Status = metav1.ConditionUnknown
	}
	return suspected
}
