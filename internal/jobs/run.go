/*
SPDX-License-Identifier: Apache-2.0
*/

// Package jobs builds, observes and runs the Jobs of actions of an engine.
//
//	kind.go    what the Jobs of one kind share: attempts, deadline, resources
//	build.go   the Job of an action, from a Spec
//	read.go    reads a Job and its pods; job.go and attempt.go have the facts
//	run.go     runs a Job until it has succeeded: the next step for an action, from its observed Job
package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// Step is what comes next for an action that runs until it has succeeded.
type Step int

const (
	// Create its Job: it has none.
	Create Step = iota
	// Recreate its Job: delete this one, whose configuration has changed or whose result does not count.
	Recreate
	// AwaitDeletion of its Job, which no longer counts, but whose name is still in use.
	AwaitDeletion
	// Wait until it has ended.
	Wait
	// Done actions have succeeded.
	Done
	// Failed actions are not attempted again.
	Failed
	// Lost actions have failed although no pod status reports it: the node does not respond. Their pod may still run.
	Lost
)

// Trouble is what is wrong with an action that has not ended.
type Trouble int

const (
	// NoTrouble is known.
	NoTrouble Trouble = iota
	// Failing actions are about to be Failed: no attempt follows the latest one.
	Failing
	// Retried actions are attempted again.
	Retried
	// Unmet actions are attempted again, but fail until the user acts.
	Unmet
	// Blocked actions cannot start a pod until the user acts.
	Blocked
)

// Policy is how an action runs until it has succeeded.
type Policy struct {
	// Desired are the Jobs that the operator would create now. A Job with the same configuration as any of them is current. If it
	// is empty, the desired configuration is unknown and no Job is superseded.
	Desired []objects.Child
	// Supersede selects the Jobs to re-create when their configuration has changed.
	Supersede
	// Restart supersedes any Job: its results so far do not count.
	Restart bool
	// CountsFor is how long the result of a Job counts, whatever it is; 0 for always.
	CountsFor time.Duration
	// Deadline is how long the action may take.
	Deadline time.Duration
	// Purpose describes an action that runs. Seen is what was reported before.
	Purpose, Seen string
}

// Result is the next step for an action, with what it follows from.
type Result struct {
	Step
	Trouble
	Job Job
	// Cause is why the action failed, cannot start or is attempted again; "" if it is unknown.
	Cause string
	// Message describes an action that has a Job: its purpose, its trouble, or why it failed.
	Message string
	// Left is the time after which the result changes without an event; 0 for never.
	Left time.Duration
}

// NeedsUser reports whether an action that has not ended continues only after the user has acted.
func (r Result) NeedsUser() bool { return r.Trouble == Unmet || r.Trouble == Blocked }

// Run returns the next step for an action at a time. Exists is false if it has no Job.
func Run(p Policy, job Job, exists bool, at time.Time) Result {
	lostAt, failing := job.LostAt(p.Deadline)
	lost := failing && !at.Before(lostAt)
	r := Result{Job: job, Cause: job.Cause()}
	switch {
	case !exists:
		r.Step = Create
	case job.Ending:
		r.Step = AwaitDeletion
	case p.recreates(job, at):
		r.Step = Recreate
	case job.Succeeded:
		r.Step = Done
	case job.Failed:
		r.Step, r.Cause = Failed, cmp.Or(r.Cause, unanswered(job))
	case lost:
		r.Step, r.Cause = Lost, cmp.Or(r.Cause, unanswered(job))
	default:
		r.Step, r.Trouble = Wait, trouble(job)
	}
	r.Message = r.sentence(p.Purpose, p.Seen)
	r.Left = p.left(job, at)
	if failing && !lost {
		r.Left = lostAt.Sub(at)
	}
	return r
}

// left is how long the result of a Job still counts; 0 for always, and for no longer.
func (p Policy) left(job Job, at time.Time) time.Duration {
	if !job.Ended() {
		return 0
	}
	return max(0, p.CountsFor-job.EndedFor(at))
}

// recreates reports whether a Job and its result do not count.
func (p Policy) recreates(job Job, at time.Time) bool {
	return p.Restart || p.superseded(job) || p.CountsFor > 0 && job.Ended() && job.EndedFor(at) >= p.CountsFor
}

// superseded reports whether the operator has to re-create a Job because its configuration has changed. The pod template of a Job
// is immutable, so a correction of the spec reaches the pods in no other way. A running action is never interrupted, nor one that may
// run. An action that has not read or written anything loses nothing. A failed attempt of some kinds is not continued anyway, so their
// Jobs are replaced before the next attempt. The operator does not replace a Job without a hash.
func (p Policy) superseded(job Job) bool {
	failed := job.Failed && p.Supersede == SupersedeFailed
	retried := job.BetweenAttempts() && p.Supersede != SupersedeUnstarted
	replaceable := failed || retried || !job.Started && !job.Ended() && !job.Failing
	current := func(d objects.Child) bool {
		return job.MadeFrom == d.Object.GetAnnotations()[dbv1.AnnotationApplied]
	}
	return replaceable && job.MadeFrom != "" && len(p.Desired) > 0 && !slices.ContainsFunc(p.Desired, current)
}

// trouble returns what is wrong with an action that has not ended.
func trouble(job Job) Trouble {
	switch {
	case job.Blocked():
		return Blocked
	case job.Final:
		return Failing
	case job.Unmet(job.Progress):
		return Unmet
	case job.Cause() != "":
		return Retried
	default:
		return NoTrouble
	}
}

// sentence describes an action; it is the purpose if no problem is known. After a deadline has deleted the pod of a Job, no cause can be
// observed any more, so the last observed cause remains.
func (r Result) sentence(purpose, seen string) string {
	retried, blocked := fmt.Sprintf("Kubernetes retries Job %s: ", r.Job.Name), fmt.Sprintf("Job %s cannot start: ", r.Job.Name)
	switch {
	case r.Step == Failed, r.Step == Lost:
		return r.failure(purpose, seen)
	case r.Trouble == Blocked:
		return blocked + r.Cause + ". " + r.Job.Unblock()
	case r.Job.Silent() && (strings.HasPrefix(seen, retried) || strings.HasPrefix(seen, blocked)):
		return seen
	case r.Cause == "":
		return purpose
	case r.Trouble == Failing:
		return fmt.Sprintf("Job %s failed: %s", r.Job.Name, r.Cause)
	default:
		return retried + r.Cause
	}
}

// failure describes an action that has failed. Of a Job whose pod no longer has the cause, the last observed problem is more
// informative.
func (r Result) failure(purpose, seen string) string {
	if r.Cause != r.Job.Failure {
		return r.Cause
	}
	cause := fmt.Sprintf("Job %s failed: %s", r.Job.Name, r.Cause)
	if seen != "" && seen != purpose {
		cause += "; " + seen
	}
	return cause
}

func unanswered(job Job) string {
	return fmt.Sprintf("Job %s did not finish within its deadline: pod %s does not respond", job.Name, job.Pod)
}
