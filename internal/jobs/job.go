/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Job is the part of a Job and its pods that decisions use.
type Job struct {
	Name string
	UID  types.UID
	// Component is the kind of action: one of the Component constants of the API.
	Component string
	// Version is the Job's resourceVersion, for the precondition of its deletion. No decision uses it.
	Version string
	// Ending is true if the Job is being deleted. It no longer counts, but its name is still in use.
	Ending bool
	// Active is true if a pod of it runs, or is about to run.
	Active    bool
	Succeeded bool
	Failed    bool
	// Failing is true if it will have failed after its pods have ended.
	Failing bool
	// Failure is why it failed, in the words of the Job controller.
	Failure string
	// StartTime and CompletionTime are when it began and when it ended.
	StartTime, CompletionTime *metav1.Time

	// Pod is the newest pod; "" for none.
	Pod string
	// Problem is why that pod does not run; "" if it is unknown.
	Problem string
	// Pending is true if not all its containers have started. No status reports a missing volume source.
	Pending bool
	// Leaving is true if that pod is being deleted.
	Leaving bool
	// Refusal is why its pod could not be created; "" if it could, or if that is unknown.
	Refusal string
	// Remedy is the correction that lets a pod start; "" if no action of the user is known to be required.
	Remedy string
	// Started is true if an action of it has run, or may have.
	Started bool
	// MadeFrom is the hash of the Job's configuration.
	MadeFrom string
	// Final is true if no attempt follows the newest one: the Job is about to fail.
	Final bool
	// CreatedAt is when the operator created the Job, by its own clock; zero if that is unknown.
	CreatedAt time.Time
	// EndTime is when the Job ended, with any result; zero before.
	EndTime metav1.Time
	// EndsAfter is a time before the end of the successful attempt, by the clock of the API server; zero if that is unknown.
	EndsAfter time.Time
	// Code is the exit code of the newest attempt; 0 if it has not ended.
	Code protocol.ExitCode
	// Result is the newest result of an attempt, preferably of one that was not interrupted.
	// After success it is the result of the successful attempt. Exit is the exit code of that attempt.
	Result *protocol.Result
	Exit   protocol.ExitCode
	// Restored is the result of the restore before that, of a copy; nil for none.
	Restored *protocol.Result
	// Progress is the progress of a running pod, from its log; nil if the log contains none, or was not read.
	Progress *protocol.Progress
	// Answer is the last answer of a copy to its probe, from the log; "" if the log contains none, or was not read.
	Answer string
}

// Ended reports whether the Job has ended, with any result.
func (t Job) Ended() bool { return t.Succeeded || t.Failed }

// EndedFor returns how long ago the Job ended; 0 if it has not. It never compares the operator's clock with the one of Kubernetes:
// CreatedAt is of the operator's clock, and the duration of the Job is measured by the other one.
func (t Job) EndedFor(at time.Time) time.Duration {
	switch {
	case t.EndTime.IsZero():
		return 0
	case t.CreatedAt.IsZero() || t.StartTime == nil: // of another version of the operator
		return at.Sub(t.EndTime.Time)
	default:
		return at.Sub(t.CreatedAt) - t.EndTime.Sub(t.StartTime.Time)
	}
}

// BetweenAttempts reports whether the latest attempt has failed and Kubernetes will start another one later. No pod of the Job runs.
func (t Job) BetweenAttempts() bool {
	over := t.Ended() || t.Ending || t.Failing || t.Final
	return !over && !t.Active && t.Code != protocol.ExitDone
}

// Facts returns the task without fields that no decision uses.
func (t Job) Facts() Job {
	t.Version = ""
	return t
}

// Unanswered is how long after its deadline a Job may take to end. Its pod may be on a node that does not respond, and Kubernetes
// then waits forever.
const Unanswered = 5 * time.Minute

// LostAt returns when a Job with this deadline, whose pods do not end, counts as failed; ok is false for any other Job.
func (t Job) LostAt(deadline time.Duration) (at time.Time, ok bool) {
	if !t.Failing || t.Ended() || t.StartTime == nil {
		return time.Time{}, false
	}
	return t.StartTime.Add(deadline + Unanswered), true
}

// Silent reports whether the newest attempt can show no cause any more: its pod does not exist any more, or is being deleted before it
// started. The kubelet then reports an end that it does not know, or none.
func (t Job) Silent() bool {
	return t.Failing || t.Pod == "" || t.Leaving && t.Problem == "" || strings.Contains(t.Problem, "(ContainerStatusUnknown)")
}

// Cause returns why the task or its last attempt failed: the result of the attempt, else the problem of its pod, else the message
// of the Job controller. It is "" if the cause is unknown.
func (t Job) Cause() string {
	switch {
	case t.Refusal != "":
		return "its pod cannot be created: " + t.Refusal
	case interrupted(t.Result) && t.Failure != "": // the Job controller reports the cause of the interruption
		return t.Failure
	case t.Result != nil && t.Result.Message != "":
		return t.Result.Message
	case t.Problem != "":
		return "pod " + t.Pod + ": " + t.Problem
	default:
		return t.Failure
	}
}

// Of returns the facts of a Job and its pods.
func Of(job *batchv1.Job, pods []corev1.Pod) Job {
	t := Job{
		Name: job.Name, UID: job.UID, Version: job.ResourceVersion,
		Component: job.Labels[dbv1.LabelComponent],
		Ending:    job.DeletionTimestamp != nil,
		Active:    job.Status.Active > 0,
		Started:   begun(job, pods),
		MadeFrom:  job.Annotations[dbv1.AnnotationApplied],
		CreatedAt: createdAt(job),
		StartTime: job.Status.StartTime, CompletionTime: job.Status.CompletionTime,
	}
	for _, c := range job.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			t.Succeeded, t.EndTime = true, c.LastTransitionTime
		case batchv1.JobFailed:
			t.Failed, t.Failure, t.EndTime = true, c.Message, c.LastTransitionTime
		case batchv1.JobFailureTarget:
			t.Failing = true
		default: // suspended, or about to complete or fail
		}
	}
	return t.with(attempts(pods))
}

func createdAt(job *batchv1.Job) time.Time {
	at, err := time.Parse(time.RFC3339, job.Annotations[dbv1.AnnotationCreated])
	if err != nil {
		return time.Time{}
	}
	return at
}

// with adds the attempts of pods, the newest first.
func (t Job) with(all []Attempt) Job {
	if len(all) > 0 {
		t.Pod, t.Problem, t.Pending, t.Leaving = all[0].Pod, all[0].Problem, all[0].Pending, all[0].Leaving
		t.Remedy, t.Final, t.Code = all[0].Remedy, all[0].Final, all[0].Code
	}
	for _, attempt := range all {
		t.Started = t.Started || attempt.Started
		if attempt.Succeeded && attempt.EndsAfter.After(t.EndsAfter) {
			t.EndsAfter = attempt.EndsAfter
		}
		if attempt.Result != nil && (attempt.Succeeded || !t.Succeeded) && (t.Result == nil || interrupted(t.Result)) {
			t.Result, t.Exit, t.Restored = attempt.Result, attempt.Exit, attempt.Restored
		}
	}
	return t
}
