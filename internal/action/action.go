/*
SPDX-License-Identifier: Apache-2.0
*/

// Package action judges how an action stands whose Job has been observed. What an action runs is in package resources.
package action

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Standing is how an action stands.
type Standing int

const (
	// Absent actions have no Job.
	Absent Standing = iota
	// Terminating actions have a Job that is being deleted: it counts no more, but its name is not free yet.
	Terminating
	// Superseded actions have a Job that has to be deleted and created again, because what it is made from has changed.
	Superseded
	// Succeeded actions are done.
	Succeeded
	// Failed actions are not attempted again.
	Failed
	// Lost actions have failed, and the pod does not say so: its node does not answer.
	Lost
	// Blocked actions cannot start a pod until a human corrects something.
	Blocked
	// Failing actions are about to be Failed: no other attempt follows the newest.
	Failing
	// Unmet actions are attempted again, and fail until a human changes something.
	Unmet
	// Retrying actions are attempted again.
	Retrying
	// Running actions run, or are about to, as far as is known.
	Running
)

// Expected is what a Job is held to.
type Expected struct {
	// Desired are the Jobs that would be created now: a Job that is made from the same as any of them is current. None: what
	// it would be made from is not known, so no Job is superseded.
	Desired []resources.Child
	// Restart supersedes any Job: what it has done so far does not count.
	Restart bool
	// Deadline is how long the action may take.
	Deadline time.Duration
}

// Verdict is how an action stands, and why.
type Verdict struct {
	Standing
	Task state.Task
	// Cause is why the action failed, cannot start or is attempted again; "" when nothing is known.
	Cause string
	// Left is how long until time alone changes the verdict; 0 for never.
	Left time.Duration
}

// Judge says how an action stands at a time.
func Judge(task state.Task, exists bool, expected Expected, at time.Time) Verdict {
	v := Verdict{Task: task, Cause: task.Cause()}
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

// superseded reports whether a Job has to be re-created because what it is made from has changed. The template of a Job cannot be
// changed, so a correction of the spec reaches its pods in no other way. An action that has run, or may have, is never cut
// off; one that has not read or written anything loses nothing. A Job without a hash is left alone.
func superseded(task state.Task, desired []resources.Child) bool {
	failed := task.Failed && resources.ActionKindOf(task.Component).Supersede == resources.SupersedeFailed
	replaceable := failed || !task.Started && !task.Ended() && !task.Failing
	current := func(d resources.Child) bool {
		return task.MadeFrom == d.Object.GetAnnotations()[dbv1.AnnotationApplied]
	}
	return replaceable && task.MadeFrom != "" && len(desired) > 0 && !slices.ContainsFunc(desired, current)
}

// underway is how an action stands that has not ended.
func underway(task state.Task) Standing {
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

// Sentence says what an action does that has not ended: the usual where nothing is known to be wrong. A Job whose deadline
// has just deleted its pod says nothing any more, so what was seen of it before stays.
func (v Verdict) Sentence(usual, seen string) string {
	retried, blocked := fmt.Sprintf("Kubernetes retries Job %s: ", v.Task.Job), fmt.Sprintf("Job %s cannot start: ", v.Task.Job)
	silent := v.Task.Failing || v.Task.Pod == ""
	switch {
	case v.Standing == Blocked:
		return blocked + v.Cause + ". " + v.Task.Unblock()
	case silent && (strings.HasPrefix(seen, retried) || strings.HasPrefix(seen, blocked)):
		return seen
	case v.Cause == "":
		return usual
	case v.Standing == Failing:
		return fmt.Sprintf("Job %s failed: %s", v.Task.Job, v.Cause)
	default:
		return retried + v.Cause
	}
}

func unanswered(task state.Task) string {
	return fmt.Sprintf("Job %s did not finish within its deadline: pod %s does not respond", task.Job, task.Pod)
}
