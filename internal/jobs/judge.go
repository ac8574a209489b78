/*
SPDX-License-Identifier: Apache-2.0
*/

// Package jobs builds, observes and judges the Jobs of actions of an engine.
//
//	kind.go    what the Jobs of one kind share: attempts, deadline, resources
//	build.go   the Job of an action, from a Spec
//	read.go    reads a Job and its pods; job.go and attempt.go have the facts
//	judge.go   the state of an action, from its observed Job
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

// Standing is the state of an action.
type Standing int

const (
	// Absent actions have no Job.
	Absent Standing = iota
	// Terminating actions have a Job that is being deleted. The Job no longer counts, but its name is still in use.
	Terminating
	// Superseded actions have a Job that the operator has to re-create, because its configuration has changed.
	Superseded
	// Succeeded actions have finished successfully.
	Succeeded
	// Failed actions are not attempted again.
	Failed
	// Lost actions have failed although no pod status reports it: the node does not respond.
	Lost
	// Blocked actions cannot start a pod until the user acts.
	Blocked
	// Failing actions are about to be Failed: no attempt follows the latest one.
	Failing
	// Unmet actions are attempted again, but fail until the user acts.
	Unmet
	// Retrying actions are attempted again.
	Retrying
	// Running actions run or are about to run, as far as the operator can observe.
	Running
)

// Expected is the state that a Job is compared with.
type Expected struct {
	// Desired are the Jobs that the operator would create now. A Job with the same configuration as any of them is current. If it
	// is empty, the desired configuration is unknown and no Job is superseded.
	Desired []objects.Child
	// Restart supersedes any Job: its results so far do not count.
	Restart bool
	// Deadline is how long the action may take.
	Deadline time.Duration
}

// Verdict is the state of an action, and its cause.
type Verdict struct {
	Standing
	Job Job
	// Cause is why the action failed, cannot start or is attempted again; "" if it is unknown.
	Cause string
	// Left is the time after which the verdict changes without an event; 0 for never.
	Left time.Duration
}

// Judge returns the state of an action at a time.
func Judge(task Job, exists bool, expected Expected, at time.Time) Verdict {
	v := Verdict{Job: task, Cause: task.Cause()}
	lostAt, failing := task.LostAt(expected.Deadline)
	lost := failing && !at.Before(lostAt)
	switch {
	case !exists:
		v.Standing = Absent
	case task.Ending:
		v.Standing = Terminating
	case expected.Restart, superseded(task, expected.Desired):
		v.Standing = Superseded
	case task.Succeeded:
		v.Standing = Succeeded
	case task.Failed, lost:
		v.Standing, v.Cause = Failed, cmp.Or(v.Cause, unanswered(task))
		if !task.Failed {
			v.Standing = Lost
		}
	default:
		v.Standing = underway(task)
	}
	if failing && !lost {
		v.Left = lostAt.Sub(at)
	}
	return v
}

// superseded reports whether the operator has to re-create a Job because its configuration has changed. The pod template of a Job
// is immutable, so a correction of the spec reaches the pods in no other way. A running action is never interrupted, nor one that may
// run. An action that has not read or written anything loses nothing. A failed attempt of some kinds is not continued anyway, so their
// Jobs are replaced before the next attempt. The operator does not replace a Job without a hash.
func superseded(task Job, desired []objects.Child) bool {
	failed := (task.Failed || task.BetweenAttempts()) && KindOf(task.Component).Supersede == SupersedeFailed
	replaceable := failed || !task.Started && !task.Ended() && !task.Failing
	current := func(d objects.Child) bool {
		return task.MadeFrom == d.Object.GetAnnotations()[dbv1.AnnotationApplied]
	}
	return replaceable && task.MadeFrom != "" && len(desired) > 0 && !slices.ContainsFunc(desired, current)
}

// underway returns the state of an action that has not ended.
func underway(task Job) Standing {
	switch {
	case task.Blocked():
		return Blocked
	case task.Final:
		return Failing
	case task.Unmet(task.Progress):
		return Unmet
	case task.Cause() != "":
		return Retrying
	default:
		return Running
	}
}

// Sentence describes an action that has not ended; it is the usual sentence if no problem is known. After a deadline has deleted
// the pod of a Job, no cause can be observed any more, so the last observed cause remains.
func (v Verdict) Sentence(usual, seen string) string {
	retried, blocked := fmt.Sprintf("Kubernetes retries Job %s: ", v.Job.Name), fmt.Sprintf("Job %s cannot start: ", v.Job.Name)
	switch {
	case v.Standing == Blocked:
		return blocked + v.Cause + ". " + v.Job.Unblock()
	case v.Job.Silent() && (strings.HasPrefix(seen, retried) || strings.HasPrefix(seen, blocked)):
		return seen
	case v.Cause == "":
		return usual
	case v.Standing == Failing:
		return fmt.Sprintf("Job %s failed: %s", v.Job.Name, v.Cause)
	default:
		return retried + v.Cause
	}
}

func unanswered(task Job) string {
	return fmt.Sprintf("Job %s did not finish within its deadline: pod %s does not respond", task.Name, task.Pod)
}
