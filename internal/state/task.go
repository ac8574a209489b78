/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Task is what the operator uses of a Job that it made, and of the Job's pods.
type Task struct {
	Job string
	UID types.UID
	// Component is the kind of action: one of the Component constants of the API.
	Component string
	// Version is the Job's resourceVersion, for the precondition of its deletion. No decision reads it.
	Version string
	// Ending tells that the Job is being deleted; it counts no more, but its name is not free yet.
	Ending bool
	// Active tells that a pod of it runs, or is to run.
	Active    bool
	Succeeded bool
	Failed    bool
	// Failing tells that it will have failed once its pods have ended.
	Failing bool
	// Failure is why it failed, in the Job controller's words.
	Failure string
	// StartTime and CompletionTime are when it began and when it ended.
	StartTime, CompletionTime *metav1.Time

	// Pod is the newest pod; "" when there is none.
	Pod string
	// Problem says why that pod does not run; "" when no reason is known.
	Problem string
	// Pending tells that its containers have not all been started. What a volume of it lacks, no status tells.
	Pending bool
	// Refusal is why its pod could not be created; "" when it could, or that is not known.
	Refusal string
	// Remedy says what a human has to correct so that a pod can start; "" when no human is known to be needed.
	Remedy string
	// Started tells that an action of it has run, or may have.
	Started bool
	// MadeFrom is the hash of what the Job was made from.
	MadeFrom string
	// Final tells that its newest try ended so that no other follows: the Job is about to fail.
	Final bool
	// Result is what the newest try has said that said anything, and more than that it was interrupted; once the Job
	// has succeeded, the one that did. Exit is the code that this try ended with.
	Result *protocol.Result
	Exit   protocol.ExitCode
	// Progress is how far a pod that runs is, as its log says; nil when the log does not say, or was not read.
	Progress *protocol.Progress
	// Answer is what a copy answered to its probe last, as the log says; "" when the log does not say, or was not read.
	Answer string
}

// Ended tells whether the Job has ended, whatever came of it.
func (t Task) Ended() bool { return t.Succeeded || t.Failed }

// Facts is the task without what no decision reads.
func (t Task) Facts() Task {
	t.Version = ""
	return t
}

// Unanswered is how long after its deadline a Job may take to end. Its pod may be on a node that does not answer:
// Kubernetes then waits for it without end.
const Unanswered = 5 * time.Minute

// LostAt is when a Job that was given so long, and has failed without saying so, counts as failed; ok is false for any
// other.
func (t Task) LostAt(deadline time.Duration) (at time.Time, ok bool) {
	if !t.Failing || t.StartTime == nil {
		return time.Time{}, false
	}
	return t.StartTime.Add(deadline + Unanswered), true
}

// Cause says why the task failed, or why its last try did: what the try itself said, else what kept its pod from
// running, else the Job controller's words. "" when nothing is known.
func (t Task) Cause() string {
	switch {
	case t.Refusal != "":
		return "its pod cannot be created: " + t.Refusal
	case interrupted(t.Result) && t.Failure != "": // what interrupted it tells more
		return t.Failure
	case t.Result != nil && t.Result.Message != "":
		return t.Result.Message
	case t.Problem != "":
		return "pod " + t.Pod + ": " + t.Problem
	default:
		return t.Failure
	}
}

// TaskOf reads a Task from a Job and its pods.
func TaskOf(job *batchv1.Job, pods []corev1.Pod) Task {
	t := Task{
		Job: job.Name, UID: job.UID, Version: job.ResourceVersion,
		Component: job.Labels[dbv1.LabelComponent],
		Ending:    job.DeletionTimestamp != nil,
		Active:    job.Status.Active > 0,
		Started:   begun(job, pods),
		MadeFrom:  job.Annotations[dbv1.AnnotationApplied],
		StartTime: job.Status.StartTime, CompletionTime: job.Status.CompletionTime,
	}
	for _, c := range job.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			t.Succeeded = true
		case batchv1.JobFailed:
			t.Failed, t.Failure = true, c.Message
		case batchv1.JobFailureTarget:
			t.Failing = true
		default: // suspended, or on the way to one of these
		}
	}
	return t.with(tries(pods))
}

// with adds what the pods tell, the newest first.
func (t Task) with(all []Try) Task {
	if len(all) > 0 {
		t.Pod, t.Problem, t.Pending, t.Remedy, t.Final = all[0].Pod, all[0].Problem, all[0].Pending, all[0].Remedy, all[0].Final
	}
	for _, try := range all {
		t.Started = t.Started || try.Started
		if try.Result != nil && (try.Succeeded || !t.Succeeded) && (t.Result == nil || interrupted(t.Result)) {
			t.Result, t.Exit = try.Result, try.Exit
		}
	}
	return t
}

// Try is what the operator uses of one pod of a Job, and all that it uses.
type Try struct {
	Pod       string
	Created   metav1.Time
	Succeeded bool
	Problem   string
	Pending   bool
	Remedy    string
	Started   bool
	Final     bool
	Result    *protocol.Result
	Exit      protocol.ExitCode
}

// TryOf reads a Try from its pod.
func TryOf(pod *corev1.Pod) Try {
	try := Try{
		Pod:       pod.Name,
		Created:   pod.CreationTimestamp,
		Succeeded: pod.Status.Phase == corev1.PodSucceeded,
		Pending:   pod.Status.Phase == corev1.PodPending,
		Started:   actionStarted(pod),
		Final:     final(pod),
	}
	try.Result, try.Exit = resultOf(pod)
	if !try.Succeeded && !actionDone(pod) { // the pods of a Job are not restarted: there is nothing previous to them
		try.Problem = cmp.Or(strings.TrimSuffix(problem(pod), previousLogs), evicted(pod))
		try.Remedy = remedy(pod)
	}
	return try
}

// evicted says what becomes of a pod that Kubernetes deleted because of its node. It goes within its grace period, unless
// the node does not answer any more.
func evicted(pod *corev1.Pod) string {
	if pod.DeletionTimestamp == nil || pod.Status.Phase == corev1.PodFailed {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("is being evicted from node %s (%s) and is still terminating; if the node is lost, delete its Node object", pod.Spec.NodeName, c.Message)
		}
	}
	return ""
}

// actionDone tells that the action ended well. The pod's phase says so only a moment later.
func actionDone(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == naming.ActionContainer && s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
	})
}

// final tells that a container of a try ended so that no other follows.
func final(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses), func(s corev1.ContainerStatus) bool {
		end := s.State.Terminated
		return (s.Name == naming.ActionContainer || s.Name == naming.RestoreContainer) && end != nil &&
			protocol.ExitCode(end.ExitCode).Final()
	})
}

func tries(pods []corev1.Pod) []Try {
	all := make([]Try, 0, len(pods))
	for i := range pods {
		all = append(all, TryOf(&pods[i]))
	}
	slices.SortFunc(all, func(a, b Try) int {
		return cmp.Or(b.Created.Compare(a.Created.Time), cmp.Compare(a.Pod, b.Pod))
	})
	return all
}
