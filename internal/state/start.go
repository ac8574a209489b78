/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Blocked reports whether no pod of the task can start until a human corrects something.
func (t Task) Blocked() bool {
	return t.Remedy != "" && !t.Succeeded && !t.Failed && !t.Failing && !t.Ending
}

// Unmet reports whether the newest attempt that ended needs a human to change something, and none has got further since.
// The progress is that of an attempt that runs; nil for none.
func (t Task) Unmet(now *protocol.Progress) bool {
	ended := t.Succeeded || t.Failed || t.Failing || t.Ending || t.Final
	return t.Result != nil && t.Exit == protocol.ExitPrecondition && !ended && (now == nil || now.Bytes == 0)
}

// Unblock says what a human has to do so that a pod of a blocked task can start. The operator re-creates a Job that has
// not started when what it is made from changes, and no other.
func (t Task) Unblock() string {
	if !t.Started {
		return t.Remedy
	}
	return fmt.Sprintf("%s. Then delete Job %s: it has run before, so the operator does not re-create it by itself", t.Remedy, t.Job)
}

// begun reports whether the counts of a Job say that an action of it has run, or may have: a pod that is counted and was
// not found may run.
func begun(job *batchv1.Job, pods []corev1.Pod) bool {
	s := job.Status
	terminated := s.UncountedTerminatedPods
	uncounted := terminated != nil && len(terminated.Succeeded)+len(terminated.Failed) > 0
	return s.Succeeded+s.Failed > 0 || s.Ready != nil && *s.Ready > 0 || uncounted || s.Active > 0 && len(pods) == 0
}

// actionStarted reports whether an action of a pod has run, or may have. The container that installs the transfer program
// reads and writes no data, so it does not count.
func actionStarted(pod *corev1.Pod) bool {
	if phase := pod.Status.Phase; phase != "" && phase != corev1.PodPending {
		return true
	}
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		ran := s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
		return ran && s.Name != naming.TransferContainer
	})
}

// JobResources is the field with the resources of a Job, in a remedy. Those of a Job of a hook are in another.
const JobResources = "spec.backup.resources"

// remedy says what a human has to correct so that a pod can start; "" when no human is known to be needed.
func remedy(pod *corev1.Pod) string {
	if slices.ContainsFunc(pod.Status.Conditions, unschedulable) {
		return "Correct spec.scheduling or " + JobResources + " of the DatabaseCluster, or add a node"
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		waiting := s.State.Waiting
		switch {
		case waiting == nil || starting[waiting.Reason] || unstartable[waiting.Reason]:
			continue
		case !pulling[waiting.Reason] && !unusable[waiting.Reason]:
			return "Create or correct the object that this message names"
		case s.Name == naming.TransferContainer:
			return "Correct the operator's flag --transfer-image, or spec.pod.imagePullSecrets of the DatabaseCluster"
		default:
			return "Correct spec.image or spec.pod.imagePullSecrets of the DatabaseCluster"
		}
	}
	return ""
}
