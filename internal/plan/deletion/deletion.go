/*
SPDX-License-Identifier: Apache-2.0
*/

// Package deletion decides how to delete a cluster: the hooks in their order, the members one by one, the volumes by policy, then
// the operator's finalizer. It needs neither a valid spec nor a running member, and creates only the objects of hooks.
package deletion

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/restore"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// gates precede the hooks. The annotation that skips the hooks does not wait until a restore has stopped.
func gates(await phase.Outcome) []phase.Phase {
	return []phase.Phase{
		{Name: "released", Decide: released},
		{Name: "protection", Decide: protected},
		{Name: "subjects", Decide: func(*situation.Situation) phase.Outcome { return deleting(await) }},
		{Name: "restore", Decide: stopRestore},
	}
}

// Decide returns the next step of a deletion. It awaits subjects. Before its hooks, these finish what the hooks need.
func Decide(s *situation.Situation, await, finish phase.Outcome) phase.Outcome {
	outcome := phase.First(gates(await), s)
	if !outcome.Waits() && !s.Skips() && len(s.Cluster.Spec.Deletion.Hooks) > 0 {
		outcome = finish
	}
	if outcome.Waits() {
		outcome.Hooks = s.Cluster.Status.Hooks
		return outcome
	}
	d := &deletion{Situation: s}
	d.hooks, d.waiting = goThrough(s)
	outcome = phase.First(d.phases(), s)
	outcome.Hooks = d.hooks
	if s.Skips() { // stops the Jobs of a restore, but does not wait for them
		outcome.Operations = slices.Concat(restore.Stop(s).Operations, outcome.Operations)
	}
	return outcome
}

// deletion is the situation, with the hooks.
type deletion struct {
	*situation.Situation
	// hooks are the states of the hooks. waiting is the outcome of the first hook that blocks the deletion.
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

// protected blocks a deletion that the API server should have refused. That happens if the admission policies are missing or were
// not in force yet.
func protected(s *situation.Situation) phase.Outcome {
	if !s.Cluster.Spec.Deletion.Protection {
		return phase.Over
	}
	outcome := phase.Wait(dbv1.ReasonProtected, "spec.deletion.protection is true")
	outcome.Stalled = &situation.Stall{Reason: dbv1.ReasonProtected, Message: fmt.Sprintf(
		"the cluster was deleted although spec.deletion.protection is true, because the API server did not deny the request. "+
			"The operator stops no member and deletes nothing. The deletion cannot be undone. To continue it, set spec.deletion.protection to "+
			"false: "+
			"kubectl -n %s patch databasecluster %s --type=merge -p '{\"spec\":{\"deletion\":{\"protection\":false}}}'",
		s.Cluster.Namespace, s.Cluster.Name)}
	return outcome
}

// deleting is an outcome of a subject, with the reason of a deletion.
func deleting(await phase.Outcome) phase.Outcome {
	if await.Waits() {
		await.Reason = dbv1.ReasonDeleting
	}
	return await
}

func stopRestore(s *situation.Situation) phase.Outcome {
	if s.Skips() {
		return phase.Over
	}
	return restore.Stop(s)
}

// record waits until the status contains the results of the hooks. They cannot be observed later.
func (d *deletion) record(s *situation.Situation) phase.Outcome {
	if slices.EqualFunc(d.hooks, s.Cluster.Status.Hooks, func(a, b dbv1.HookStatus) bool {
		return samePhase(a, b) && slices.EqualFunc(a.Stopped, b.Stopped, sameEnd)
	}) {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonDeleting, "all members have stopped; recording the results of the deletion hooks")
}

// PhasesChanged reports whether a hook has another phase than in the status.
func PhasesChanged(before, after []dbv1.HookStatus) bool {
	return !slices.EqualFunc(after, before, samePhase)
}

func samePhase(a, b dbv1.HookStatus) bool { return a.Name == b.Name && a.Phase == b.Phase }

func deletesVolumes(s *situation.Situation) bool {
	return s.Cluster.Spec.Deletion.Volumes == dbv1.VolumesDelete
}

// continuesOnFailure reports whether the deletion continues after a failed hook.
func continuesOnFailure(s *situation.Situation) bool {
	return s.Cluster.Spec.Deletion.HookFailurePolicy == dbv1.HookFailureContinue
}
