/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// The spec of a pod determines its fate:
//
//	a node label "no-such-node"      it cannot be scheduled
//	64 CPUs or more                  it cannot be scheduled or resized to that
//	an image with "missing" in it    the image cannot be pulled
//	an image with "crash" in it, or  the container exits with code 1 repeatedly
//	a config file with "crash" in it
//	a Secret that does not exist     the container cannot be configured
//	a claim that is not bound        it waits
//	an agreement of another database the container exits with code 1 repeatedly
//
// Any other pod becomes ready. It stays ready even if its Secret is deleted.

// runKubelet is the scheduler and the kubelet.
func (w *World) runKubelet() {
	for _, pod := range store.All[*corev1.Pod](w.Store) {
		switch {
		case w.delays(), w.disk.lost[pod.Name]:
		case pod.DeletionTimestamp != nil && !store.HasFinalizer(pod, store.PodGrace): // a finalizer keeps the stopped pod
		case pod.DeletionTimestamp != nil:
			w.journal.add(w.by, w.stopped(pod))
			store.WithoutFinalizer(pod, store.PodGrace)
			w.Store.Put(pod)
		case pod.Spec.RestartPolicy == corev1.RestartPolicyNever:
			w.runAction(pod)
		default:
			w.runPod(pod)
			w.probe(pod)
		}
	}
}

func (w *World) runPod(pod *corev1.Pod) {
	before := pod.DeepCopy()
	what := w.fate(pod)
	if equality.Semantic.DeepEqual(before.Status, pod.Status) {
		return
	}
	w.Store.Put(pod)
	w.journal.add(w.by, fmt.Sprintf("pod %s %s", pod.Name, what))
}

// fate sets a pod's status and returns a description of it.
func (w *World) fate(pod *corev1.Pod) string {
	if IsReady(pod) || Runs(pod) && IsRelated(pod) {
		return w.resize(pod)
	}
	if wantsMissingNode(pod) {
		w.setScheduled(pod, false, "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector")
		return "cannot be scheduled"
	}
	if w.keptApart(pod) {
		w.setScheduled(pod, false, "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules")
		return "cannot be scheduled"
	}
	if pod.Spec.NodeName == "" && w.schedule() == "" {
		w.setScheduled(pod, false, "0/3 nodes are available: 3 node(s) were unschedulable")
		return "cannot be scheduled"
	}
	if huge(pod) {
		w.setScheduled(pod, false, "0/3 nodes are available: 3 Insufficient cpu")
		return "cannot be scheduled"
	}
	if claim := w.unboundClaim(pod); claim != "" {
		return "waits for claim " + claim
	}
	w.setScheduled(pod, true, "")
	if text := w.missingReference(pod); text != "" {
		w.setWaiting(pod, "CreateContainerConfigError", text, nil)
		return "cannot be configured: " + text
	}
	image := pod.Spec.Containers[0].Image
	switch {
	case strings.Contains(image, "missing"):
		w.setWaiting(pod, "ImagePullBackOff", fmt.Sprintf("Back-off pulling image %q: ErrImagePull: %s: not found", image, image), nil)
		return "cannot pull image " + image
	case strings.Contains(image, "crash"), w.configHasCrash(pod), w.mistaken(pod):
		w.setWaiting(pod, "CrashLoopBackOff", "back-off 10s restarting failed container",
			&corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"})
		return "crashes again and again"
	}
	w.setRunning(pod)
	w.mount(pod)
	if IsRelated(pod) { // its software reports when it is ready
		w.setReady(pod, false)
		return "runs"
	}
	return "is ready"
}

// huge reports whether a pod requests more than a node has.
func huge(pod *corev1.Pod) bool { return pod.Spec.Containers[0].Resources.Requests.Cpu().Value() >= 64 }

func wantsMissingNode(pod *corev1.Pod) bool {
	if _, wanted := pod.Spec.NodeSelector["no-such-node"]; wanted {
		return true
	}
	affinity := pod.Spec.Affinity
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return false
	}
	for _, term := range affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		for _, expression := range term.MatchExpressions {
			if expression.Key == "no-such-node" {
				return true
			}
		}
	}
	return false
}

func (w *World) unboundClaim(pod *corev1.Pod) string {
	for _, volume := range pod.Spec.Volumes {
		wanted := claimName(pod, volume)
		if wanted == "" {
			continue
		}
		claim := store.Get[*corev1.PersistentVolumeClaim](w.Store, wanted)
		if claim == nil || claim.Status.Phase != corev1.ClaimBound {
			return wanted
		}
	}
	return ""
}

// missingReference returns the kubelet's message about a missing object that a pod needs.
func (w *World) missingReference(pod *corev1.Pod) string {
	for _, source := range pod.Spec.Containers[0].EnvFrom {
		if ref := source.SecretRef; ref != nil && (ref.Optional == nil || !*ref.Optional) && store.Get[*corev1.Secret](w.Store, ref.Name) == nil {
			return fmt.Sprintf("secret %q not found", ref.Name)
		}
	}
	for _, volume := range pod.Spec.Volumes {
		if source := volume.Secret; source != nil && (source.Optional == nil || !*source.Optional) &&
			store.Get[*corev1.Secret](w.Store, source.SecretName) == nil {
			return fmt.Sprintf("secret %q not found", source.SecretName)
		}
		if source := volume.ConfigMap; source != nil && (source.Optional == nil || !*source.Optional) &&
			store.Get[*corev1.ConfigMap](w.Store, source.Name) == nil {
			return fmt.Sprintf("configmap %q not found", source.Name)
		}
	}
	return ""
}

func (w *World) configHasCrash(pod *corev1.Pod) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.ConfigMap == nil {
			continue
		}
		if config := store.Get[*corev1.ConfigMap](w.Store, volume.ConfigMap.Name); config != nil {
			for _, text := range config.Data {
				if strings.Contains(text, "crash") {
					return true
				}
			}
		}
	}
	return false
}

func (w *World) setScheduled(pod *corev1.Pod, scheduled bool, why string) {
	if pod.Status.Phase == "" {
		pod.Status.Phase = corev1.PodPending
	}
	reason := ""
	if scheduled {
		pod.Spec.NodeName = cmp.Or(pod.Spec.NodeName, w.schedule())
		pod.Status.HostIP = "10.0.0.1"
	}
	if !scheduled {
		reason = corev1.PodReasonUnschedulable
	}
	w.setCondition(pod, corev1.PodScheduled, scheduled, reason, why)
}

func (w *World) setWaiting(pod *corev1.Pod, reason, message string, last *corev1.ContainerStateTerminated) {
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:                 pod.Spec.Containers[0].Name,
		Image:                pod.Spec.Containers[0].Image,
		State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
		LastTerminationState: corev1.ContainerState{Terminated: last},
	}}
	w.setCondition(pod, corev1.PodReady, false, "ContainersNotReady", "")
}

func (w *World) setRunning(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = nil
	for _, container := range pod.Spec.Containers {
		resources := container.Resources.DeepCopy()
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{
			Name: container.Name, Image: container.Image, Ready: true, Started: new(true), ContainerID: "sim://" + container.Name,
			Resources: resources, AllocatedResources: resources.Requests,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.Clock.Now())}},
		})
	}
	w.setCondition(pod, corev1.PodReady, true, "", "")
}

// resize sets the resources of a running pod to its spec if the node has them.
func (w *World) resize(pod *corev1.Pod) string {
	wanted, status := pod.Spec.Containers[0].Resources, &pod.Status.ContainerStatuses[0]
	if status.Resources != nil && equality.Semantic.DeepEqual(wanted, *status.Resources) {
		w.dropCondition(pod, corev1.PodResizePending)
		return "is as it was"
	}
	if huge(pod) {
		w.setCondition(pod, corev1.PodResizePending, true, corev1.PodReasonInfeasible, "Node didn't have enough capacity: cpu")
		return "cannot be resized"
	}
	w.dropCondition(pod, corev1.PodResizePending)
	status.Resources, status.AllocatedResources = wanted.DeepCopy(), wanted.DeepCopy().Requests
	return fmt.Sprintf("is resized to %s", wanted.Requests.Cpu())
}

func (w *World) setCondition(pod *corev1.Pod, kind corev1.PodConditionType, is bool, reason, message string) {
	value := corev1.ConditionFalse
	if is {
		value = corev1.ConditionTrue
	}
	next := corev1.PodCondition{Type: kind, Status: value, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(w.Clock.Now())}
	for i, c := range pod.Status.Conditions {
		if c.Type != kind {
			continue
		}
		if c.Status == value {
			next.LastTransitionTime = c.LastTransitionTime
		}
		pod.Status.Conditions[i] = next
		return
	}
	pod.Status.Conditions = append(pod.Status.Conditions, next)
}

func (w *World) dropCondition(pod *corev1.Pod, kind corev1.PodConditionType) {
	for i, c := range pod.Status.Conditions {
		if c.Type == kind {
			pod.Status.Conditions = append(pod.Status.Conditions[:i], pod.Status.Conditions[i+1:]...)
			return
		}
	}
}

// IsReady reports whether a pod is ready.
func IsReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
