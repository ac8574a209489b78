/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

var (
	// starting are reasons of a waiting container that indicate no problem. The cause of CrashLoopBackOff is in the last
	// termination state.
	starting = map[string]bool{"": true, "ContainerCreating": true, "PodInitializing": true, "CrashLoopBackOff": true}
	// unstartable are reasons of a container whose command cannot run.
	unstartable = map[string]bool{"RunContainerError": true, "StartError": true, "ContainerCannotRun": true}
	// pulling are reasons of an image that cannot be pulled.
	pulling = map[string]bool{"ErrImagePull": true, "ImagePullBackOff": true, "RegistryUnavailable": true, "SignatureValidationFailed": true}
	// unusable are reasons of an image that the kubelet does not even try to pull.
	unusable = map[string]bool{"InvalidImageName": true, "ErrImageNeverPull": true, "ImageInspectError": true}
)

// previousLogs starts the command that shows why a container exited.
const previousLogs = "; see kubectl logs "

// Problem returns why a pod cannot run, as a clause without times or counters.
func Problem(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if Unschedulable(c) {
			return fmt.Sprintf("cannot be scheduled: %s", c.Message)
		}
	}
	for _, s := range pod.Status.InitContainerStatuses {
		done := s.State.Terminated != nil && s.State.Terminated.ExitCode == 0
		if text := containerProblem(pod.Name, s); text != "" && !done {
			return text
		}
	}
	for _, s := range pod.Status.ContainerStatuses {
		if text := containerProblem(pod.Name, s); text != "" {
			return text
		}
	}
	if pod.Status.Phase == corev1.PodFailed {
		return strings.TrimSuffix("failed: "+pod.Status.Reason, ": ")
	}
	return ""
}

// WithoutLogs removes the command for the logs, for messages that have their own.
func WithoutLogs(problem string) string {
	text, _, _ := strings.Cut(problem, previousLogs)
	return text
}

// Unschedulable ignores temporary causes: an error of the scheduler, and a claim that was created at the same time as the pod.
func Unschedulable(c corev1.PodCondition) bool {
	return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable &&
		!(strings.Contains(c.Message, "persistentvolumeclaim") && strings.Contains(c.Message, "not found"))
}

// containerProblem returns the same text while the cause is the same: the kubelet alternates between an error and a back-off, and
// between a crash, a back-off and running.
func containerProblem(pod string, s corev1.ContainerStatus) string {
	if waiting := s.State.Waiting; waiting != nil {
		switch {
		case pulling[waiting.Reason]:
			_, cause, found := strings.Cut(waiting.Message, "ErrImagePull: ")
			if !found {
				cause = waiting.Message
			}
			return fmt.Sprintf("container %s: image pull failed: %s", s.Name, cause)
		case unstartable[waiting.Reason]:
			return cannotStart(s.Name, waiting.Message)
		case !starting[waiting.Reason]:
			return fmt.Sprintf("container %s: %s: %s", s.Name, waiting.Reason, waiting.Message)
		}
	}
	ended := s.State.Terminated
	if ended == nil {
		ended = s.LastTerminationState.Terminated
	}
	switch {
	case ended == nil:
		return ""
	case unstartable[ended.Reason]:
		return cannotStart(s.Name, ended.Message)
	default:
		return fmt.Sprintf("container %s: exited with code %d (%s)", s.Name, ended.ExitCode, ended.Reason) + lastWords(s.Name, ended.Message) +
			previousLogs + pod + " -c " + s.Name + " --previous"
	}
}

// MaxLastWords is the limit of the output that a message quotes.
const MaxLastWords = 300

// lastWords is the last line that an action has printed before it failed, or that a member has left as its termination message.
func lastWords(container, message string) string {
	if _, err := protocol.DecodeResult(message); container != naming.ActionContainer && container != naming.Container || err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(message), "\n")
	if last := strings.TrimRight(lines[len(lines)-1], "."); last != "" {
		return ": " + Head(last, MaxLastWords)
	}
	return ""
}

// cannotStart returns the same text before and after the kubelet's next attempt.
func cannotStart(container, message string) string {
	return fmt.Sprintf("container %s: cannot be started: %s", container, message)
}

// Stuck reports whether a pod does not run and will not without a change: no node, no image, no configuration, or repeated crashes.
func Stuck(pod *corev1.Pod) bool {
	waits := func(s corev1.ContainerStatus) bool {
		waiting := s.State.Waiting
		return waiting != nil && (!starting[waiting.Reason] || waiting.Reason == "CrashLoopBackOff")
	}
	return pod.Status.Phase == corev1.PodFailed ||
		slices.ContainsFunc(pod.Status.Conditions, Unschedulable) ||
		slices.ContainsFunc(pod.Status.InitContainerStatuses, waits) ||
		slices.ContainsFunc(pod.Status.ContainerStatuses, waits)
}

// Head returns at most that many bytes of a text, without a part of a character at the end.
func Head(text string, most int) string { return strings.ToValidUTF8(text[:min(len(text), most)], "") }
