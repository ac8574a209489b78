/*
SPDX-License-Identifier: Apache-2.0
*/

package disturb

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Exclusively lets one action at a time disturb the members of a cluster. An operation that disturbs them waits until the Jobs of other
// actions have ended, whichever phase decided about them. Of a deletion, see AfterHandOvers.
func Exclusively(s *situation.Situation, o phase.Outcome) phase.Outcome {
	if !o.Operations.Need(operation.Disturbs) {
		return o
	}
	return AfterOthers(s, o)
}

// AfterOthers lets an outcome wait until no action disturbs the members. A fact that a running action may change is not recorded before.
func AfterOthers(s *situation.Situation, o phase.Outcome) phase.Outcome {
	return afterEach(s, s.Jobs, o)
}

// AfterHandOvers lets an outcome of a deletion wait only while a hand-over may change the primary, which stops last.
func AfterHandOvers(s *situation.Situation, o phase.Outcome) phase.Outcome {
	if !o.Operations.Need(operation.Disturbs) {
		return o
	}
	return afterEach(s, state.Only(s.Jobs, func(t jobs.Job) bool { return t.Component == dbv1.ComponentHandOver }), o)
}

func afterEach(s *situation.Situation, tasks []jobs.Job, o phase.Outcome) phase.Outcome {
	for _, t := range tasks {
		if underway(s, t) {
			return after(t, o)
		}
	}
	return o
}

// after is an outcome that waits for a Job. A Job that does not disturb members now is deleted: it may wait for what this operation
// corrects. Kubernetes deletes it after its pods, so none of them runs when it no longer exists.
func after(t jobs.Job, o phase.Outcome) phase.Outcome {
	outcome := phase.Wait(o.Reason, fmt.Sprintf("waiting until Job %s has ended; next: %s", t.Name, o.Message))
	outcome.Stalled, outcome.RequeueAfter = o.Stalled, situation.Sooner(o.RequeueAfter, situation.ProgressRequeue)
	if idle(t) {
		outcome.Operations = operation.Deletion(operation.JobOf(t).Because("another action precedes it"))
	}
	return outcome
}

// idle reports whether the action of a Job has not started, or has failed and waits for its next attempt.
func idle(t jobs.Job) bool {
	return !t.Ending && (!t.Started || t.BetweenAttempts())
}

// underway reports whether the action of a Job may still disturb members. A Job that should have ended long ago has a pod on a node that
// does not respond, and would block all others.
func underway(s *situation.Situation, t jobs.Job) bool {
	if t.Ended() {
		return false
	}
	t.Failing = t.Failing || t.Ending
	lostAt, ends := t.LostAt(kindOf(t.Component).Deadline(s.Cluster))
	return !ends || s.At.Before(lostAt)
}
