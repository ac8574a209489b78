/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Member is what the operator uses of a member's pod, and all that it uses: the watch on pods lets an
// event through exactly when this value changes.
type Member struct {
	Name     string
	UID      types.UID
	Owner    types.UID // of the StatefulSet that controls the pod; "" for none
	Ordinal  int32
	Revision string
	Ready    bool
	// ReadySince is when Ready last changed.
	ReadySince metav1.Time
	Stopping   bool
	// Problem says why the pod cannot run, or why it last ended; "" when no reason is known.
	Problem string
	// Version is the pod's resourceVersion, for the precondition of its deletion. No decision reads it.
	Version string
}

// Facts is the member without what no decision reads.
func (m Member) Facts() Member {
	m.Version = ""
	return m
}

// Steadily is how long a member has to be ready before that counts where it may not last: a container
// without a readiness probe is ready for an instant between one crash and the next.
const Steadily = 10 * time.Second

// Serving tells whether the member is ready and not on its way out. One that has ended before has to be
// ready steadily.
func (m Member) Serving(now time.Time) bool {
	return m.Ready && !m.Stopping && (m.Problem == "" || m.Steady(now))
}

// Steady tells whether the member has been ready for long enough to disturb another.
func (m Member) Steady(now time.Time) bool {
	return m.Ready && !m.Stopping && m.settlesIn(now) <= 0
}

// Broken tells whether the member is known to be unable to run. One on its way out is not: it will be
// replaced.
func (m Member) Broken(now time.Time) bool {
	return m.Problem != "" && !m.Stopping && !m.Serving(now)
}

// settlesIn is how long it takes until the member has been ready steadily.
func (m Member) settlesIn(now time.Time) time.Duration { return m.ReadySince.Add(Steadily).Sub(now) }

// MemberOf reads a Member from its pod.
func MemberOf(pod *corev1.Pod, ordinal int32) Member {
	m := Member{
		Name:     pod.Name,
		UID:      pod.UID,
		Ordinal:  ordinal,
		Revision: pod.Labels[appsv1.StatefulSetRevisionLabel],
		Stopping: pod.DeletionTimestamp != nil,
		Problem:  problem(pod),
		Version:  pod.ResourceVersion,
	}
	if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
		m.Owner = owner.UID
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			m.Ready, m.ReadySince = c.Status == corev1.ConditionTrue, c.LastTransitionTime
		}
	}
	return m
}

var (
	// starting are the reasons of a waiting container that say nothing of a problem. Why a container is in
	// CrashLoopBackOff, its last end says.
	starting = map[string]bool{"": true, "ContainerCreating": true, "PodInitializing": true, "CrashLoopBackOff": true}
	// pulling are those of one image that cannot be pulled.
	pulling = map[string]bool{"ErrImagePull": true, "ImagePullBackOff": true}
)

// problem is why a pod cannot run, as a clause without times or counters.
func problem(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if unschedulable(c) {
			return fmt.Sprintf("cannot be scheduled: %s", c.Message)
		}
	}
	for _, s := range pod.Status.InitContainerStatuses {
		done := s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
		if text := containerProblem(s); text != "" && !done {
			return text
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if text := containerProblem(s); text != "" {
			return text
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return strings.TrimSuffix("failed: "+pod.Status.Reason, ": ")
	}
	return ""
}

// unschedulable leaves out what passes by itself: an error of the scheduler, and a claim that was made
// in the same moment as the pod.
func unschedulable(c corev1.PodCondition) bool {
	return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable &&
		!(strings.Contains(c.Message, "persistentvolumeclaim") && strings.Contains(c.Message, "not found"))
}

// containerProblem says the same for as long as the cause is the same: the kubelet goes back and forth
// between an error and waiting for the next try, and between a crash, waiting and running again.
func containerProblem(s corev1.ContainerStatus) string {
	if waiting := s.State.Waiting; waiting != nil {
		switch {
		case pulling[waiting.Reason]:
			_, cause, found := strings.Cut(waiting.Message, "ErrImagePull: ")
			if !found {
				cause = waiting.Message
			}
			return fmt.Sprintf("container %s: image pull failed: %s", s.Name, cause)
		case !starting[waiting.Reason]:
			return fmt.Sprintf("container %s: %s: %s", s.Name, waiting.Reason, waiting.Message)
		}
	}
	ended := s.State.Terminated
	if ended == nil {
		ended = s.LastTerminationState.Terminated
	}
	if ended == nil {
		return ""
	}
	return fmt.Sprintf("container %s: exited with code %d (%s)", s.Name, ended.ExitCode, ended.Reason)
}
