/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// interrupted reports whether the attempt was stopped from outside, for example by the Job's deadline.
func interrupted(r *protocol.Result) bool { return r != nil && r.Reason == protocol.Interrupted }

// resultOf returns the result and the exit code of the last container of a Job's pod that reported one; nil if none reported a
// readable result.
func resultOf(pod *corev1.Pod) (*protocol.Result, protocol.ExitCode) {
	for _, container := range []string{naming.ActionContainer, naming.RestoreContainer} {
		if result, code := resultIn(pod, container); result != nil {
			return result, code
		}
	}
	return nil, protocol.ExitDone
}

// resultIn returns the result and the exit code of a container; nil if it reported no readable result.
func resultIn(pod *corev1.Pod, container string) (*protocol.Result, protocol.ExitCode) {
	for _, s := range slices.Concat(pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses) {
		end := s.State.Terminated
		if s.Name != container || end == nil || end.Message == "" {
			continue
		}
		if result, err := protocol.DecodeResult(end.Message); err == nil {
			return result, protocol.ExitCode(end.ExitCode)
		}
	}
	return nil, protocol.ExitDone
}

// WithLog adds the progress that the log of the newest pod contains.
func (t Job) WithLog(log string) Job {
	if progress, ok := protocol.ParseProgress(log); ok {
		t.Progress = &progress
	}
	t.Answer = protocol.ParseAnswer(log)
	return t
}
