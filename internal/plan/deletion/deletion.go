/*
SPDX-License-Identifier: Apache-2.0
*/

// Package deletion decides how a cluster is deleted: hooks in their order, members one by one, volumes by policy, then the
// operator's finalizer. It needs neither a valid spec nor a running member, and creates nothing but what the hooks need.
package deletion

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/restore"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// gates come before the hooks. An annotation that skips the hooks does not wait for a restore to stop.
var gates = []phase.Phase{
	{Name: "released", Decide: released},
	{Name: "protection", Decide: protected},
	{Name: "labels", Decide: labels},
	{Name: "restore", Decide: stopRestore},
}

// Decide decides what a pass does for a cluster that is being deleted.
func Decide(s *situation.Situation) phase.Outcome {
	if outcome := phase.First(gates, s); outcome.Waits() {
		outcome.Hooks = s.Cluster.Status.Hooks
		return outcome
	}
	d := &deletion{Situation: s}
	d.hooks, d.waiting = goThrough(s)
	outcome := phase.First(d.phases(), s)
	outcome.Hooks = d.hooks
	if skips(s) { // which does not wait for Jobs to stop that fill volumes, but stops them
		outcome.Operations = slices.Concat(restore.Stop(s).Operations, outcome.Operations)
	}
	return outcome
}

// deletion is a situation in which nothing but the hooks is in the way.
type deletion struct {
	*situation.Situation
	// hooks are how the hooks stand, and waiting what the first of them that is not over waits for.
	hooks   []dbv1.HookStatus
	waiting phase.Outcome
}

func (d *deletion) phases() []phase.Phase {
	return []phase.Phase{
		{Name: "hooks", Decide: func(*situation.Situation) phase.Outcome { return d.waiting }},
		{Name: "stop", Decide: stop},
		{Name: "record", Decide: d.record},
		{Name: "volumes", Decide: d.removeVolumes},
		{Name: "finalizer", Decide: d.finish},
	}
}

func released(s *situation.Situation) phase.Outcome {
	if s.HasFinalizer() {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonDeleting, "the operator has removed its finalizer")
}

// protected holds back a deletion that the API server should have refused, as where its policies are missing or
// were not in force yet.
func protected(s *situation.Situation) phase.Outcome {
	if !s.Cluster.Spec.Deletion.Protection {
		return phase.Over
	}
	outcome := phase.Wait(dbv1.ReasonProtected, "spec.deletion.protection is true")
	outcome.Stalled = &situation.Stall{Reason: dbv1.ReasonProtected, Message: fmt.Sprintf(
		"the cluster was deleted although spec.deletion.protection is true, because the API server did not deny the request. "+
			"The operator stops no member and deletes nothing. The deletion cannot be undone. To continue it, set spec.deletion.protection to false: "+
			"kubectl -n %s patch databasecluster %s --type=merge -p '{\"spec\":{\"deletion\":{\"protection\":false}}}'",
		s.Cluster.Namespace, s.Cluster.Name)}
	return outcome
}

func labels(s *situation.Situation) phase.Outcome {
	outcome := members.Labeling(s)
	if outcome.Waits() {
		outcome.Reason = dbv1.ReasonDeleting
	}
	return outcome
}

func stopRestore(s *situation.Situation) phase.Outcome {
	if skips(s) {
		return phase.Over
	}
	return restore.Stop(s)
}

// record waits until the status says how the hooks ended: after that nobody can read it any more elsewhere.
func (d *deletion) record(s *situation.Situation) phase.Outcome {
	if slices.EqualFunc(d.hooks, s.Cluster.Status.Hooks, func(a, b dbv1.HookStatus) bool {
		return samePhase(a, b) && slices.EqualFunc(a.Stopped, b.Stopped, sameEnd)
	}) {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonDeleting, "all members have stopped; recording the results of the deletion hooks")
}

// PhasesChanged tells whether one of the hooks is in another phase than was reported.
func PhasesChanged(before, after []dbv1.HookStatus) bool {
	return !slices.EqualFunc(after, before, samePhase)
}

func samePhase(a, b dbv1.HookStatus) bool { return a.Name == b.Name && a.Phase == b.Phase }

// skips tells whether somebody lets the deletion go on without hooks.
func skips(s *situation.Situation) bool {
	return s.Cluster.Annotations[dbv1.AnnotationSkipDeletionHooks] == "true"
}

func deletesVolumes(s *situation.Situation) bool {
	return s.Cluster.Spec.Deletion.Volumes == dbv1.VolumesDelete
}

// passesOn tells whether the deletion goes on when a hook has failed.
func passesOn(s *situation.Situation) bool {
	return s.Cluster.Spec.Deletion.OnFailure == dbv1.HookFailureContinue
}
