/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Attempt is the part of a Job's pod that decisions use.
type Attempt struct {
	Pod       string
	Created   metav1.Time
	Succeeded bool
	Problem   string
	Pending   bool
	Leaving   bool
	Remedy    string
	Started   bool
	Final     bool
	// Code is the exit code of the action; 0 if it has not ended.
	Code   protocol.ExitCode
	Result *protocol.Result
	Exit   protocol.ExitCode
	// Restored is the result of the restore of a copy; nil for none.
	Restored *protocol.Result
	// EndsAfter is a time before the end of the action, by the clock of the API server; zero if that is unknown.
	EndsAfter time.Time
}

// AttemptOf returns the attempt of a pod.
func AttemptOf(pod *corev1.Pod) Attempt {
	attempt := Attempt{
		Pod:       pod.Name,
		Created:   pod.CreationTimestamp,
		Succeeded: pod.Status.Phase == corev1.PodSucceeded,
		Pending:   pod.Status.Phase == corev1.PodPending,
		Leaving:   pod.DeletionTimestamp != nil,
		Started:   actionStarted(pod),
		Final:     final(pod),
		Code:      codeOf(pod),
		EndsAfter: endsAfter(pod),
	}
	attempt.Result, attempt.Exit = resultOf(pod)
	attempt.Restored, _ = resultIn(pod, naming.RestoreContainer)
	if !attempt.Succeeded && !actionDone(pod) { // containers of a Job are not restarted, so they have no previous logs
		attempt.Problem = cmp.Or(pods.WithoutLogs(pods.Problem(pod)), evicted(pod))
		attempt.Remedy = pods.Remedy(pod, pods.OfCluster(jobResources))
	}
	return attempt
}

// evicted describes a pod that Kubernetes deleted because of its node. The pod terminates within its grace period, unless the node
// does not respond.
func evicted(pod *corev1.Pod) string {
	if pod.DeletionTimestamp == nil || pod.Status.Phase == corev1.PodFailed {
		return ""
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			return fmt.Sprintf("is being evicted from node %s (%s) and is still terminating; if the node is lost, delete its Node object",
				pod.Spec.NodeName, c.Message)
		}
	}
	return ""
}

// actionDone reports whether the action succeeded. The pod's phase reports it only a moment later.
func actionDone(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
		return s.Name == naming.ActionContainer && s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
	})
}

// final reports whether a container of an attempt ended with an exit code after which no attempt follows.
func final(pod *corev1.Pod) bool {
	return slices.ContainsFunc(slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses),
		func(s corev1.ContainerStatus) bool {
			end := s.State.Terminated
			return (s.Name == naming.ActionContainer || s.Name == naming.RestoreContainer) && end != nil &&
				protocol.ExitCode(end.ExitCode).Final()
		})
}

// codeOf is the exit code of the action of a pod; 0 if it has not ended.
func codeOf(pod *corev1.Pod) protocol.ExitCode {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name == naming.ActionContainer && s.State.Terminated != nil {
			return protocol.ExitCode(s.State.Terminated.ExitCode)
		}
	}
	return protocol.ExitDone
}

func attempts(pods []corev1.Pod) []Attempt {
	all := make([]Attempt, 0, len(pods))
	for i := range pods {
		all = append(all, AttemptOf(&pods[i]))
	}
	slices.SortFunc(all, func(a, b Attempt) int {
		return cmp.Or(b.Created.Compare(a.Created.Time), cmp.Compare(a.Pod, b.Pod))
	})
	return all
}

// endsAfter returns a time before the end of a pod's action, by the clock of the API server; zero if that is unknown. The API server
// records the creation of the pod, and the kubelet measures by its own clock how long it had the pod. Both drop fractions of seconds,
// which may make the difference one second too long.
func endsAfter(pod *corev1.Pod) time.Time {
	for _, s := range pod.Status.ContainerStatuses {
		end := s.State.Terminated
		if s.Name != naming.ActionContainer || end == nil || end.FinishedAt.IsZero() || pod.Status.StartTime == nil {
			continue
		}
		return pod.CreationTimestamp.Add(end.FinishedAt.Sub(pod.Status.StartTime.Time) - time.Second)
	}
	return time.Time{}
}
