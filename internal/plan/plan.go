/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a cluster, from values alone.
package plan

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/deletion"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/restore"
	"github.com/dbcluster/databasecluster-operator/internal/plan/schedule"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Plan is what a pass does. It is a value: tests compare it, logs print it, status explains it.
type Plan struct {
	// Operations are what is to be done, in this order.
	Operations operation.List

	// Reason and Message are those of the Progressing condition: what the pass does, or what the cluster waits for.
	Reason, Message string
	// Stalled says what only a human can change; nil when nothing.
	Stalled *situation.Stall
	// RequeueAfter is when to look again although nothing may change; 0 for never.
	RequeueAfter time.Duration

	// Pending tells that the cluster's objects do not express its spec yet.
	Pending bool
	// Newer tells that this version of the operator would make the pods otherwise than they stand.
	Newer bool

	// Hooks are how the deletion hooks stand; nil while the cluster is not being deleted.
	Hooks []dbv1.HookStatus
	// HooksChanged tells that one of them is in another phase than was reported: that is never asked again.
	HooksChanged bool

	// Restore is how far the restore is that the cluster starts with; nil for none.
	Restore *dbv1.RestoreStatus
	// Schedule is what the clock asks for.
	Schedule schedule.Plan
}

// LiveRead tells whether the plan does what must not be decided from a stale cache. What is created beside the finalizer
// needs none: a cluster without our finalizer has no members yet, and the finalizer goes on to none that is gone.
func (p Plan) LiveRead() bool {
	_, begins := operation.Find[operation.AddFinalizer](p.Operations)
	return p.HooksChanged || slices.ContainsFunc(p.Operations, func(o operation.Operation) bool {
		_, apply := o.(operation.Apply)
		return o.Properties().LiveRead && !(apply && begins)
	})
}

// Work is what a pass executes, and what for.
func (p Plan) Work() (all operation.List, why string) { return p.Operations, p.Message }

// For decides what to do for a cluster in a situation. A deletion comes first: it must go on whatever the spec says.
func For(s *situation.Situation) Plan {
	clock := schedule.For(s.Cluster, s.Observed)
	decide := existence
	if s.Deleting() {
		decide = removal
	}
	p := decide(s, clock.Operations)
	p.Restore = restore.Status(s, p.Message, p.Stalled)
	p.Schedule = clock
	p.RequeueAfter = situation.Sooner(p.RequeueAfter, clock.RequeueAfter(s.At))
	return p
}

// existence decides for a cluster that is to be there.
func existence(s *situation.Situation, scheduled operation.List) Plan {
	s.Upkeep = slices.Concat(finalizer(s), sizes(s), labels(s), scheduled, adoptions(s), releases(s), members.Writes(s))
	s.Stalled = stalled(s)
	p := of(s, phase.First(phases, s))
	p.Pending, p.Newer = pending(s), resources.Newer(s.Cluster, s.Observed)
	if s.Cluster.Spec.Paused {
		p = paused(p)
	}
	return p
}

// removal decides for a cluster that is being deleted.
func removal(s *situation.Situation, _ operation.List) Plan {
	s.Upkeep = slices.Concat(labels(s), releases(s))
	p := of(s, deletion.Decide(s))
	p.Operations, _ = p.Operations.Only(operation.WhileDeleting)
	p.HooksChanged = deletion.PhasesChanged(s.Cluster.Status.Hooks, p.Hooks)
	return p
}

func of(s *situation.Situation, o phase.Outcome) Plan {
	p := Plan{
		Operations: slices.Concat(s.Upkeep, o.Operations), Reason: o.Reason, Message: o.Message, Hooks: o.Hooks,
		Stalled: s.Stalled, RequeueAfter: situation.Sooner(o.RequeueAfter, requeueAfter(s)),
	}
	if o.Stalled != nil {
		p.Stalled = o.Stalled
	}
	return p
}

// paused leaves everything undone that a paused cluster does not allow. What only Kubernetes still has to do is reported as
// ever.
func paused(p Plan) Plan {
	allowed, others := p.Operations.Only(operation.WhilePaused)
	if !others {
		return p
	}
	return Plan{
		Operations: allowed, Reason: dbv1.ReasonPaused, Message: fmt.Sprintf("spec.paused is true; pending: %s", p.Message),
		Pending: true, Stalled: p.Stalled, Newer: p.Newer,
	}
}
