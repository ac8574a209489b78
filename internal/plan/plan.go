/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does, from values alone.
package plan

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Plan is what a pass does. It is a value: tests compare it, logs print it, status explains it.
type Plan struct {
	// AddFinalizer says that our finalizer is missing. It goes on before any object is made.
	AddFinalizer bool

	// Apply are the objects that are not as they should be, in the order in which they are to be written.
	Apply []Write

	// Step is the one disruptive thing to do after that; nil for none.
	Step Step

	// Reason and Why are the reason and message of the Progressing condition: what the step is for, or
	// what the cluster waits for.
	Reason, Why string

	// Again is when to look again although nothing may change; 0 for never.
	Again time.Duration

	// Stalled says what waits for a human; nil when nothing does.
	Stalled *Stall
}

// Stall is a reason of the Stalled condition with a message that says what to do.
type Stall struct {
	Reason, Message string
}

// Step is one disruptive thing: RestartMember, Scale, RunHook or Finalize.
//
//sumtype:decl
type Step interface {
	step()
	// String says what the step does, for people.
	String() string
}

// For decides what to do for a cluster. A deletion comes first: it must go on whatever the spec says.
func For(cluster *dbv1.DatabaseCluster, observed state.Observed) Plan {
	if cluster.DeletionTimestamp != nil {
		return deletion(cluster, observed)
	}
	p := Plan{
		AddFinalizer: !slices.Contains(cluster.Finalizers, dbv1.Finalizer),
		Apply:        writes(cluster, observed),
		Stalled:      stall(cluster, observed),
	}
	decide(&p, cluster, observed)
	p.Again = again(p, observed)
	return p
}

// foreignAgain is how often a name conflict is looked at again: somebody else's objects are not watched.
const foreignAgain = 30 * time.Second

// again is when time alone changes what is decided or reported: no event tells that.
func again(p Plan, observed state.Observed) time.Duration {
	rolling := p.Reason == dbv1.ReasonRollingOut
	recovering := slices.ContainsFunc(observed.Members, func(m state.Member) bool { return m.Broken(observed.At) })
	settles := observed.Settles()
	switch {
	case (rolling || recovering) && settles > 0:
		return settles
	case len(observed.Foreign) > 0:
		return foreignAgain
	default:
		return 0
	}
}

// decide fills in the step and what the cluster waits for: the objects first, then members away, then
// members restarted, one at a time.
func decide(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) {
	switch {
	case len(p.Apply) > 0:
		p.Reason, p.Why = dbv1.ReasonApplying, describe(p.Apply)
	case observed.StatefulSet == nil:
		p.Reason, p.Why = dbv1.ReasonWaitingForMembers, "there is no StatefulSet"
	case scaleIn(p, cluster, observed), rollOut(p, observed), settling(p, cluster, observed):
	default:
		p.Reason, p.Why = dbv1.ReasonSettled, "the cluster is as its spec says"
	}
}
