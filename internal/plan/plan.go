/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does, from values alone.
package plan

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Plan is what a pass does. It is a value: tests compare it, logs print it, status explains it.
type Plan struct {
	// AddFinalizer says that our finalizer is missing. It goes on before any object is made.
	AddFinalizer bool

	// Release are pods that the operator's finalizer is to hold no longer.
	Release []Release

	// Adopt are the claims of data volumes that do not say yet that they are this cluster's, with this engine.
	Adopt []Adoption

	// Claims are the claims of data volumes that do not ask for the size that they should.
	Claims []ClaimResize

	// Labels are the claims of data volumes that do not bear the label by which they are protected as they should.
	Labels []ClaimLabel

	// Apply are the objects that are not as they should be, in the order in which they are to be written.
	Apply []Write

	// Delete are objects of ours that nothing uses any more.
	Delete []Removal

	// Backups are what the clock asks for.
	Backups Backups

	// Step is the one disruptive thing to do after that; nil for none.
	Step Step

	// Hooks are how the deletion hooks stand; nil while the cluster is not being deleted.
	Hooks []dbv1.HookStatus
	// HooksTurn tells that one of them is in another phase than was reported.
	HooksTurn bool

	// Reason and Why are the reason and message of the Progressing condition: what the step is for, or
	// what the cluster waits for.
	Reason, Why string

	// Pending tells that the cluster's objects do not express its spec yet.
	Pending bool

	// Newer tells that this version of the operator would make the pods otherwise than they stand.
	Newer bool

	// Again is when to look again although nothing may change; 0 for never.
	Again time.Duration

	// Stalled says what waits for a human; nil when nothing does.
	Stalled *Stall
}

// Stall is a reason of the Stalled condition with a message that says what to do.
type Stall struct {
	Reason, Message string
}

// Delicate tells whether the plan does what a view that lags behind must not lead to: it has then to be
// decided from the API server itself. A claim that grows never shrinks; a StatefulSet must not be given what
// was wanted a while ago, as by an operator that was frozen and goes on, nor be made anew without all the members that
// run. How a hook ended is never asked again. Nor is anything made for a cluster that may be gone. One without our
// finalizer has no members yet, and the finalizer goes on to none that is gone.
func (p *Plan) Delicate() bool {
	members := slices.ContainsFunc(p.Apply, func(w Write) bool { return w.Sealed() || w.UID == "" })
	objects := len(p.Release) + len(p.Adopt) + len(p.Claims) + len(p.Labels)
	return p.Step != nil || p.HooksTurn || objects > 0 || len(p.Delete) > 0 || members && !p.AddFinalizer || !p.Backups.Nothing()
}

// Step is one disruptive thing: RestartMember, ResizeMember, StopMember, Scale, RecreateStatefulSet, RunHook, HoldMember,
// MakeVolumes, StartRestore, FinishRestore or Finalize.
//
//sumtype:decl
type Step interface {
	step()
	// String says what the step does, for people.
	String() string
}

// For decides what to do for a cluster. A deletion comes first: it must go on whatever the spec says.
func For(declared *dbv1.DatabaseCluster, observed state.Observed) Plan {
	cluster := engine.Resolve(declared, observed.Engine)
	decision := existence
	if cluster.DeletionTimestamp != nil {
		decision = deletion
	}
	p := decision(cluster, observed)
	p.Backups = backups(cluster, observed)
	p.Again = sooner(p.Again, p.Backups.Again(observed.At))
	return p
}

// existence decides for a cluster that is to be there.
func existence(cluster *dbv1.DatabaseCluster, observed state.Observed) Plan {
	p := Plan{
		AddFinalizer: !slices.Contains(cluster.Finalizers, dbv1.Finalizer),
		Release:      releases(cluster, observed),
		Adopt:        adoptions(cluster, observed),
		Claims:       claims(cluster, observed),
		Labels:       labels(cluster, observed),
		Apply:        writes(cluster, observed),
		Stalled:      stall(cluster, observed),
		Newer:        resources.Newer(cluster, observed),
	}
	decide(&p, cluster, observed)
	p.Pending = pending(p, cluster, observed)
	p.Again = again(p, cluster, observed)
	if cluster.Spec.Paused {
		p.pause()
	}
	return p
}

// decide fills in the step and what the cluster waits for: the objects first, then the StatefulSet made
// anew, members away, members restarted, one at a time.
func decide(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) {
	switch {
	case len(p.Apply) > 0:
		p.Reason, p.Why = dbv1.ReasonApplying, describe(p.Apply)
	case leaving(p, observed), adopting(p, cluster, observed), restoring(p, cluster, observed), absent(p, cluster, observed):
	case recreate(p, cluster, observed), scaleIn(p, cluster, observed):
	case held(p, cluster, observed), rollOut(p, cluster, observed):
	case settling(p, cluster, observed), resizing(p, cluster, observed), labeling(p):
	default:
		p.Reason, p.Why = dbv1.ReasonSettled, "the cluster is as its spec says"
		p.Delete = leftovers(cluster, observed)
	}
}

// pending tells whether the objects, as they are after this plan's writes, do not express the spec: its size
// is not the one of the claims, members are too many or too few, the StatefulSet is held back.
func pending(p Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	wanted := target(cluster)
	leaving := slices.ContainsFunc(observed.Members, func(m state.Member) bool { return m.Ordinal >= wanted })
	return len(p.Claims) > 0 || len(p.Labels) > 0 || inherits(cluster, observed) || restoreOf(cluster, observed) != nil || leaving ||
		replicasNow(cluster, observed) != wanted || holdsBack(cluster, observed) ||
		ending(observed) || otherSize(cluster, observed) ||
		slices.ContainsFunc(observed.Foreign, isLeaving)
}

// pause leaves everything undone. What only Kubernetes still has to do is reported as ever.
func (p *Plan) pause() {
	settled := len(p.Delete) == 0 || p.Reason == dbv1.ReasonSettled
	if !p.AddFinalizer && len(p.Adopt) == 0 && len(p.Claims) == 0 && len(p.Labels) == 0 && len(p.Apply) == 0 && settled && p.Step == nil {
		p.Delete = nil
		return
	}
	why := fmt.Sprintf("spec.paused is true; left undone: %s", p.Why)
	*p = Plan{Reason: dbv1.ReasonPaused, Why: why, Pending: true, Stalled: p.Stalled, Newer: p.Newer}
}

const (
	// foreignAgain is how often a name conflict is looked at again: somebody else's objects are not watched.
	foreignAgain = 30 * time.Second
	// leavingAgain is how often it is looked whether what a former cluster left is gone.
	leavingAgain = 2 * time.Second
	// usersAgain is how often it is looked whether a pod or Job still uses volumes, should its watch miss the end: it may
	// run for hours.
	usersAgain = time.Minute
	// missingAgain is how often a Secret, ConfigMap or DatabaseEngine is looked for that does not exist or does
	// not fit, and at a volume that grows and whose claim lacks our labels: none of them is watched.
	missingAgain = 10 * time.Second
)

// again is when time alone changes what is decided or reported: no event tells that.
func again(p Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) time.Duration {
	var soonest time.Duration
	within := func(needed bool, after time.Duration) {
		if needed && after > 0 {
			soonest = sooner(soonest, after)
		}
	}
	rolling := p.Reason == dbv1.ReasonRollingOut
	within(rolling, observed.Settles(minReady(cluster)))
	within(rolling, patience(observed))
	within(slices.ContainsFunc(observed.Members, func(m state.Member) bool { return m.Broken(observed.At) }), observed.Settles(state.Steadily))
	within(len(observed.Foreign) > 0, foreignAgain)
	within(slices.ContainsFunc(observed.Foreign, isLeaving), leavingAgain)
	within(inherits(cluster, observed) && formerUser(cluster, observed) != "", usersAgain)
	within(unfit(cluster, observed) != nil, missingAgain)
	within(true, restoreAgain(cluster, observed))
	unwatched := slices.ContainsFunc(observed.Volumes, func(v state.Volume) bool { return v.Unwatched })
	within(unwatched && Resizing(cluster, observed) != "", missingAgain)
	return soonest
}

// sooner is the shorter of two delays, of which 0 means never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}
