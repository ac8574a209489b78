/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Blocked reports whether no pod of the task can start until the user acts.
func (t Job) Blocked() bool {
	return t.Remedy != "" && !t.Succeeded && !t.Failed && !t.Failing && !t.Ending
}

// Unmet reports whether the newest attempt that ended requires the user to act, and no later attempt has got further. The progress
// is that of a running attempt; nil for none.
func (t Job) Unmet(now *protocol.Progress) bool {
	ended := t.Succeeded || t.Failed || t.Failing || t.Ending || t.Final
	return t.Result != nil && t.Exit == protocol.ExitPrecondition && !ended && (now == nil || now.Bytes == 0)
}

// Unblock returns the action of the user that lets a pod of a blocked task start. The operator re-creates only a Job that has not
// started, when its configuration changes.
func (t Job) Unblock() string {
	if !t.Started {
		return t.Remedy
	}
	return fmt.Sprintf("%s. Then delete Job %s: it has run before, so the operator does not re-create it by itself", t.Remedy, t.Name)
}

// begun reports whether the counts of a Job show that an action has run, or may have: a counted pod that was not found may run.
func begun(job *batchv1.Job, pods []corev1.Pod) bool {
	s := job.Status
	terminated := s.UncountedTerminatedPods
	uncounted := terminated != nil && len(terminated.Succeeded)+len(terminated.Failed) > 0
	return s.Succeeded+s.Failed > 0 || s.Ready != nil && *s.Ready > 0 || uncounted || s.Active > 0 && len(pods) == 0
}

// actionStarted reports whether an action of a pod has run, or may have. The container that installs the transfer program reads and
// writes no data, so it does not count.
func actionStarted(pod *corev1.Pod) bool {
	if phase := pod.Status.Phase; phase != "" && phase != corev1.PodPending {
		return true
	}
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses),
		func(s corev1.ContainerStatus) bool {
			ran := s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
			return ran && s.Name != naming.TransferContainer
		})
}

// jobResources is the field with the resources of most Jobs, for remedies.
const jobResources = "spec.helpers.resources"

// ResourcesIn returns the task with another field in its remedy.
func (t Job) ResourcesIn(field string) Job {
	t.Remedy = strings.ReplaceAll(t.Remedy, jobResources, field)
	return t
}
