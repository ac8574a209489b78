/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a cluster. It depends only on its arguments.
package plan

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/deletion"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/replacement"
	"github.com/dbcluster/databasecluster-operator/internal/plan/restore"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Plan is the result of a decision. It is a value: tests compare it, logs print it, the status reports it.
type Plan struct {
	// Operations are the operations to execute, in this order.
	Operations operation.List

	// Reason and Message belong to the Progressing condition: the current step, or what the cluster waits for.
	Reason, Message string
	// Stalled is the cause for which the user must act; nil if no action is required.
	Stalled *situation.Stall
	// RequeueAfter is the time until the next pass if no event occurs; 0 for never.
	RequeueAfter time.Duration

	// Pending is true if the cluster's objects do not match its spec yet.
	Pending bool
	// Newer is true if this version of the operator would change the pod template.
	Newer bool

	// Hooks are the states of the deletion hooks; nil while the cluster is not being deleted.
	Hooks []dbv1.HookStatus
	// HooksChanged is true if a hook has another phase than in the status. The operator records that before it continues.
	HooksChanged bool
	// Behind is true if the StatefulSet is from before the one that the status records.
	Behind bool

	// Recorded are the records that the pass has executed, for the status.
	Recorded []operation.Record

	// Restore is the progress of the restore that the cluster starts with; nil for none.
	Restore *dbv1.ClusterRestoreStatus
	// Refuses is why clients cannot write although the members are ready; "" if they can.
	Refuses string
	// Reports write the parts of the status that belong to subjects.
	Reports []subject.Report
}

// LiveRead reports whether the plan must not be decided from a stale cache: because of its operations, or because the cache is seen to be
// stale. After a start of the operator, it may show members as they were before others were recorded. Objects that are created
// together with the finalizer need no live read: a cluster without our finalizer has no members yet, and the API server refuses the
// finalizer for a deleted cluster.
func (p Plan) LiveRead() bool {
	begins := p.Operations.Begins()
	return p.HooksChanged || p.Behind || p.Operations.Need(func(is operation.Properties) bool {
		return is.LiveRead && !(begins && is.Applies && !is.AlwaysLive)
	})
}

// Work returns the operations of a pass, and their purpose.
func (p Plan) Work() operation.Agenda {
	return operation.Agenda{Operations: p.Operations, Why: p.Message, RequeueAfter: p.RequeueAfter}
}

// For decides what to do for a cluster. A deletion comes first: it must continue with any spec.
func For(s *situation.Situation) Plan {
	d, decided := decide(s), existence
	if s.Deleting() {
		decided = removal
	}
	p := decided(s, d)
	p.Behind = !s.Deleting() && objects.Behind(s.Cluster, s.StatefulSet)
	p.Restore = restore.Status(s, p.Message, p.Stalled)
	p.Reports, p.Refuses = d.reports(), d.refuses()
	p.RequeueAfter = situation.Sooner(p.RequeueAfter, d.requeueAfter())
	return p
}

// existence decides for a cluster that is not being deleted.
func existence(s *situation.Situation, d decisions) Plan {
	s = s.With(d.operations(), stalled(s, d), d.leftovers())
	p := of(s, disturb.Exclusively(s, next(s, d)))
	p.Pending, p.Newer = pending(s) || d.pending(), s.EngineKnown() && resources.Newer(s.Cluster, s.Observed)
	if s.Cluster.Spec.Paused {
		p = paused(p)
	}
	return p
}

// next is the first phase that has operations or waits. At last, the cluster waits for its subjects.
func next(s *situation.Situation, d decisions) phase.Outcome {
	all := phases
	if s.Switches() {
		all = replacement.Phases
	}
	if outcome := phase.First(all, s); outcome.Waits() {
		return outcome
	}
	if outcome := d.await(); outcome.Waits() {
		return outcome
	}
	return upToDate(s)
}

// removal decides for a cluster that is being deleted.
func removal(s *situation.Situation, d decisions) Plan {
	s = s.With(d.operations(), nil, d.leftovers())
	p := of(s, deletion.Decide(s, d.await(), d.finish()))
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

// paused removes the operations that a paused cluster does not allow. A pass that only waits for Kubernetes is reported as usual.
func paused(p Plan) Plan {
	allowed, others := p.Operations.Only(operation.WhilePaused)
	if !others {
		return p
	}
	pending := p.Message
	if p.Reason == dbv1.ReasonUpToDate {
		refused, _ := p.Operations.Only(func(is operation.Properties) bool { return !is.WhilePaused })
		pending = operation.Describe(refused)
	}
	return Plan{
		Operations: allowed, Reason: dbv1.ReasonPaused, Message: fmt.Sprintf("spec.paused is true; pending: %s", pending),
		Pending: true, Stalled: p.Stalled, Newer: p.Newer,
	}
}
