/*
SPDX-License-Identifier: Apache-2.0
*/

// Package status reports the result of a pass, with one function for each condition.
package status

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// PassResult is the input, the plan and the result of a pass.
type PassResult struct {
	*situation.Situation
	Plan plan.Plan
	// Err is the error of the plan's execution; nil for none.
	Err error
}

// Of returns the status after a pass. Every pass sets every condition; a condition keeps its transition time until its status
// changes.
func Of(pass PassResult, now metav1.Time) dbv1.DatabaseClusterStatus {
	status, failed := pass.Cluster.Status.DeepCopy(), operation.Split(pass.Err)
	pass.Err = failed.Required
	status.Selector = naming.SelectorText(pass.Cluster.Name)
	pass.count(status)
	status.Primary = pass.primary()
	status.Endpoints = pass.endpoints()
	status.Restore = pass.restore()
	status.Hooks = pass.Plan.Hooks
	pass.record(status, now)
	status.Volumes = pass.VolumeRecords(status.Requests)
	status.ObservedGeneration = pass.observedGeneration()
	for _, condition := range pass.conditions(pass.subjects(failed, status)) {
		condition.ObservedGeneration = pass.Cluster.Generation
		condition.LastTransitionTime = now
		condition.Message = truncate(condition.Message)
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return *status
}

// observedGeneration is never ahead of the state of the objects. It may decrease: a generation that stalled counts as expressed
// until it makes progress.
func (p PassResult) observedGeneration() int64 {
	before, now := p.Cluster.Status.ObservedGeneration, p.Cluster.Generation
	switch {
	case p.expressed():
		return now
	case p.Plan.Pending:
		return min(before, now-1)
	default:
		return before
	}
}

// expressed reports whether the cluster's objects match its spec, or cannot match it until the user acts. Terminating members still
// belong to an older spec.
func (p PassResult) expressed() bool {
	moves := slices.Contains([]string{dbv1.ReasonScaling, dbv1.ReasonHibernating, dbv1.ReasonReplacingData}, p.Plan.Reason)
	if p.Plan.Stalled != nil || operation.Refused(p.Err) {
		return !moves
	}
	return p.Err == nil && !p.Plan.Pending
}

// subjects returns the conditions of the subjects, which write their parts of the status.
func (p PassResult) subjects(failed operation.Errors, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
	var all []metav1.Condition
	executed := subject.Executed{Operations: p.Plan.Operations, Stalled: p.Plan.Stalled,
		Err: failed.Required, Optional: failed.Optional, RefusedDecision: failed.RefusedDecision}
	for _, report := range p.Plan.Reports {
		all = append(all, report(executed, status)...)
	}
	return all
}

// conditions returns the conditions that always exist, and those that apply or applied once.
func (p PassResult) conditions(ofSubjects []metav1.Condition) []metav1.Condition {
	available, progressing, degraded, stalled := p.available(), p.progressing(), p.degraded(), p.stalled()
	all := []metav1.Condition{p.ready(available, progressing, degraded, stalled), available, progressing, degraded, stalled}
	for _, condition := range []metav1.Condition{p.updateAvailable(), p.paused(), p.hibernated(), p.splitBrainSuspected(),
		p.evictionBlocked()} {
		known := meta.FindStatusCondition(p.Cluster.Status.Conditions, condition.Type) != nil
		blind := condition.Type == dbv1.ConditionEvictionBlocked && p.blind()
		if known || condition.Status != metav1.ConditionFalse || blind {
			all = append(all, condition)
		}
	}
	all = append(all, ofSubjects...)
	if p.Cluster.DeletionTimestamp != nil {
		all = append(all, p.deletionBlocked())
	}
	return all
}

// maxMessage is a little less than the limit of the API server, which is 32768.
const maxMessage = 4096

func truncate(message string) string {
	runes := []rune(message)
	if len(runes) <= maxMessage {
		return message
	}
	return string(runes[:maxMessage]) + " …"
}
