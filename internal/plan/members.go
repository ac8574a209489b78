/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// scaleIn takes members away one by one, the highest ordinal first.
func scaleIn(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	return lower(p, observed, cluster.Spec.Replicas, dbv1.ReasonScaling)
}

// lower brings the members down to a number, one by one: the next goes only when the last is gone.
func lower(p *Plan, observed state.Observed, to int32, reason string) bool {
	replicas, known := observed.Replicas()
	if !known {
		return false
	}
	for _, m := range slices.Backward(observed.Members) {
		if m.Ordinal >= max(replicas, to) {
			p.Reason, p.Why = reason, fmt.Sprintf("pod %s is stopping", m.Name)
			return true
		}
	}
	if replicas <= to {
		return false
	}
	p.Step = Scale{To: replicas - 1, Stop: reason == dbv1.ReasonStopping}
	p.Reason, p.Why = reason, fmt.Sprintf("scaling in from %d to %d members, one at a time", replicas, to)
	return true
}

// rollOut restarts members that do not have the current template, one at a time: first those that do
// not serve, which costs nobody anything and is how a corrected template reaches a member that the one
// before broke; then the highest ordinal, and only while every member is ready steadily.
func rollOut(p *Plan, observed state.Observed) bool {
	outdated := observed.Outdated()
	if len(outdated) == 0 {
		return false
	}
	p.Reason = dbv1.ReasonRollingOut
	for _, m := range outdated {
		if !m.Serving(observed.At) && !m.Stopping {
			p.restart(m, outdated)
			return true
		}
	}
	if pod, found := unsteady(observed); found {
		p.Why = fmt.Sprintf("%s; waiting for %s to be ready steadily", counted(outdated), pod)
		return true
	}
	p.restart(outdated[len(outdated)-1], outdated)
	return true
}

func (p *Plan) restart(m state.Member, outdated []state.Member) {
	p.Step = RestartMember{Member: m}
	p.Why = fmt.Sprintf("%s; restarting pod %s", counted(outdated), m.Name)
}

func counted(outdated []state.Member) string {
	if len(outdated) == 1 {
		return "1 member is outdated"
	}
	return fmt.Sprintf("%d members are outdated", len(outdated))
}

// settling waits for Kubernetes to start what is missing.
func settling(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	if _, known := observed.Revision(); !known {
		p.Reason, p.Why = dbv1.ReasonWaitingForMembers, "the StatefulSet's controller has not seen the last change yet"
		return true
	}
	if ready := observed.Ready(); ready < cluster.Spec.Replicas {
		p.Reason, p.Why = dbv1.ReasonWaitingForMembers, fmt.Sprintf("%d of %d members are ready", ready, cluster.Spec.Replicas)
		return true
	}
	return false
}

// unsteady is the first pod that has not been ready for long enough, or does not exist yet.
func unsteady(observed state.Observed) (pod string, found bool) {
	for _, m := range observed.Members {
		if !m.Steady(observed.At) {
			return "pod " + m.Name, true
		}
	}
	replicas, _ := observed.Replicas()
	return "a missing pod", int32(len(observed.Members)) < replicas
}
