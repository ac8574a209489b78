/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// interrupted tells whether the try was stopped from outside, as by the Job's deadline.
func interrupted(r *protocol.Result) bool { return r != nil && r.Reason == protocol.Interrupted }

// resultOf is what the containers of a Job's pod said, the last of them first, and the code that the container ended
// with; nil when none said anything that can be read.
func resultOf(pod *corev1.Pod) (*protocol.Result, protocol.ExitCode) {
	for _, container := range []string{naming.ActionContainer, naming.RestoreContainer} {
		for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
			if result, code := said(statuses, container); result != nil {
				return result, code
			}
		}
	}
	return nil, protocol.ExitDone
}

func said(statuses []corev1.ContainerStatus, container string) (*protocol.Result, protocol.ExitCode) {
	for _, s := range statuses {
		if s.Name != container || s.State.Terminated == nil || s.State.Terminated.Message == "" {
			continue
		}
		if result, err := protocol.DecodeResult(s.State.Terminated.Message); err == nil {
			return result, protocol.ExitCode(s.State.Terminated.ExitCode)
		}
	}
	return nil, protocol.ExitDone
}

// Told adds what the log of the newest pod says.
func (t Task) Told(log string) Task {
	if progress, ok := protocol.ParseProgress(log); ok {
		t.Progress = &progress
	}
	t.Answer = protocol.ParseAnswer(log)
	return t
}
