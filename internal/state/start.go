/*
SPDX-License-Identifier: Apache-2.0
*/

package state

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
func (t Task) Blocked() bool {
	return t.Remedy != "" && !t.Succeeded && !t.Failed && !t.Failing && !t.Ending
}

// Unmet reports whether the newest attempt that ended requires the user to act, and no later attempt has got further. The progress
// is that of a running attempt; nil for none.
func (t Task) Unmet(now *protocol.Progress) bool {
	ended := t.Succeeded || t.Failed || t.Failing || t.Ending || t.Final
	return t.Result != nil && t.Exit == protocol.ExitPrecondition && !ended && (now == nil || now.Bytes == 0)
}

// Unblock returns the action of the user that lets a pod of a blocked task start. The operator re-creates only a Job that has not
// started, when its configuration changes.
func (t Task) Unblock() string {
	if !t.Started {
		return t.Remedy
	}
	return fmt.Sprintf("%s. Then delete Job %s: it has run before, so the operator does not re-create it by itself", t.Remedy, t.Job)
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
	return slices.ContainsFunc(slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses), func(s corev1.ContainerStatus) bool {
		ran := s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
		return ran && s.Name != naming.TransferContainer
	})
}

// jobResources is the field with the resources of most Jobs, for remedies.
const jobResources = "spec.helpers.resources"

// ResourcesIn returns the task with another field in its remedy.
func (t Task) ResourcesIn(field string) Task {
	t.Remedy = strings.ReplaceAll(t.Remedy, jobResources, field)
	return t
}

// memberResources is the field with the resources of a member, for remedies.
const memberResources = "spec.resources"

// remedy returns the correction that lets a pod start, whose resources are in a field; "" if no action of the user is known to be
// required.
func remedy(pod *corev1.Pod, resources string) string {
	if i := slices.IndexFunc(pod.Status.Conditions, unschedulable); i >= 0 {
		return placement(pod.Status.Conditions[i].Message, resources)
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if waiting := s.State.Waiting; waiting != nil && !starting[waiting.Reason] && !unstartable[waiting.Reason] {
			return containerRemedy(s.Name, waiting)
		}
	}
	return ""
}

// placement returns the correction for a message of the scheduler.
func placement(message, resources string) string {
	if text := strings.ToLower(message); strings.Contains(text, "persistentvolume") || strings.Contains(text, "volume node affinity") {
		return "See kubectl describe of the pod's PersistentVolumeClaim: it needs a StorageClass that provisions volumes, and the node of its volume"
	}
	switch text := strings.ToLower(message); {
	case strings.Contains(text, "existing pods anti-affinity") && !strings.Contains(text, "match pod anti-affinity"):
		return "Add a node. If spec.scheduling.affinity of the DatabaseCluster keeps its members apart from all its pods, annotate the DatabaseCluster with database.dbcluster.io/update=1: the members then ignore Jobs"
	case strings.Contains(text, "anti-affinity"):
		return "Add a node for each member, or correct spec.scheduling.affinity.podAntiAffinity or spec.scheduling.spread.nodes of the DatabaseCluster, which keep its members on different nodes"
	case strings.Contains(text, "topology spread"):
		return "Add a node in another zone, or correct spec.scheduling of the DatabaseCluster: with spread.zones Required, no zone has more than one member above another"
	}
	return "Correct spec.scheduling or " + resources + " of the DatabaseCluster, or add a node"
}

func containerRemedy(name string, waiting *corev1.ContainerStateWaiting) string {
	field, user := "spec.image", "spec.pod.securityContext.runAsUser"
	if own := name == naming.Container || name == naming.ActionContainer || name == naming.RestoreContainer; !own {
		field, user = "the image of this container", "securityContext.runAsUser of this container" // in spec.pod, or injected
	}
	switch {
	case strings.Contains(waiting.Message, "runAsNonRoot") || strings.Contains(waiting.Message, "non-root"):
		return "Set " + user + " of the DatabaseCluster to the number of a user other than 0"
	case !pulling[waiting.Reason] && !unusable[waiting.Reason]:
		return "Create or correct the object that this message names"
	case name == naming.TransferContainer:
		return "Correct the operator's flag --transfer-image, or spec.pod.imagePullSecrets of the DatabaseCluster"
	default:
		return "Correct " + field + " or spec.pod.imagePullSecrets of the DatabaseCluster"
	}
}
