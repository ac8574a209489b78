/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// mount starts the use of a pod's data volume. No other pod may use the volume at that time.
func (w *World) mount(pod *corev1.Pod) {
	claim := w.ClaimOf(pod)
	if claim == nil {
		return
	}
	for _, other := range store.All[*corev1.Pod](w.Store) {
		if has := w.ClaimOf(other); other.Name != pod.Name && Runs(other) && has != nil && has.UID == claim.UID {
			w.Breaks("pods %s and %s use claim %s at the same time", other.Name, pod.Name, claim.Name)
		}
	}
	on := w.disk.volumes[claim.UID]
	switch pod.Labels[dbv1.LabelComponent] {
	case dbv1.ComponentDatabase:
		w.serve(pod, claim, &on)
	case dbv1.ComponentRestore, dbv1.ComponentVerification:
		w.beginRestore(pod, claim, &on)
	}
	w.accept(pod)
	w.watchTopology(claim.Name, on, engineOf(pod))
	on.ranWith(engineOf(pod))
	w.disk.volumes[claim.UID] = on
}

// engineOf returns the engine of a pod's container, from its environment and not from annotations.
func engineOf(pod *corev1.Pod) string {
	for _, variable := range pod.Spec.Containers[0].Env {
		if variable.Name == EngineVariable {
			return variable.Value
		}
	}
	return AnyEngine
}

func (v *volume) ranWith(engine string) {
	if !strings.HasSuffix(v.engines, " "+engine) {
		v.engines += " " + engine
	}
}

// serve starts a member.
func (w *World) serve(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim, on *volume) {
	owner := claim.Labels[dbv1.LabelClusterUID]
	w.disk.shared.ran[pod.Labels[dbv1.LabelClusterUID]] = true
	switch {
	case on.marker.state == protocol.MarkRunning:
		w.Breaks("pod %s starts with claim %s, which is partly restored", pod.Name, claim.Name)
	case owner != pod.Labels[dbv1.LabelClusterUID]:
		w.Breaks("pod %s starts with claim %s of another cluster", pod.Name, claim.Name)
	}
	if IsRelated(pod) {
		w.watchStart(pod)
	} else if on.data == "" {
		on.data = fmt.Sprintf("what %s wrote%s", pod.Name, strings.Repeat(" again", on.wipes))
	}
	on.served = true
}

// beginRestore starts a restore.
func (w *World) beginRestore(pod *corev1.Pod, claim *corev1.PersistentVolumeClaim, on *volume) {
	id, from := fillOf(callsOf(pod))
	if from == "" {
		w.watchInitialize(claim)
	}
	switch on.marker {
	case marker{id, protocol.MarkDone}:
	case marker{id, protocol.MarkRunning}, marker{}:
		if on.marker == (marker{}) && on.data != "" {
			w.Breaks("pod %s overwrites data in claim %s", pod.Name, claim.Name)
			return
		}
		on.data, on.marker = "a part of "+from, marker{id, protocol.MarkRunning}
	default:
		w.Breaks("pod %s overwrites data of another backup in claim %s", pod.Name, claim.Name)
	}
}

// fillOf returns the ID of the call that fills a volume, and the location of the backup; "" for first data.
func fillOf(calls map[string]call) (id, from string) {
	if initialize, is := calls[naming.ActionContainer].asked.(*protocol.Initialize); is {
		return initialize.ID, ""
	}
	restore, is := calls[naming.ActionContainer].asked.(*protocol.Restore)
	if !is {
		restore = calls[naming.RestoreContainer].asked.(*protocol.Restore)
	}
	return restore.ID, restore.From
}

// stopped is the last message of the kubelet about a deleted pod.
func (w *World) stopped(pod *corev1.Pod) string {
	text := fmt.Sprintf("pod %s has stopped", pod.Name)
	if HasEnded(pod) || len(pod.Status.ContainerStatuses) == 0 {
		pod.Status.Phase = corev1.PodFailed
		return text
	}
	if IsRelated(pod) {
		w.halt(pod)
	}
	status := &pod.Status.ContainerStatuses[0]
	end := &corev1.ContainerStateTerminated{ContainerID: status.ContainerID, FinishedAt: metav1.NewTime(w.Clock.Now())}
	if wrong, is := w.disk.goesWrong(call{verb: "member", args: []string{pod.Name}}); is &&
		pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase {
		end.ExitCode = int32(wrong.Code)
		text += fmt.Sprintf(" with exit code %d", wrong.Code)
	}
	if cluster := w.Cluster(); store.HasFinalizer(pod, dbv1.Finalizer) && (cluster == nil || cluster.DeletionTimestamp != nil) {
		w.disk.exits[pod.Name] = end.ExitCode
	}
	end.Reason = reasonOf(end.ExitCode)
	status.State, pod.Status.Phase = corev1.ContainerState{Terminated: end}, corev1.PodSucceeded
	if end.ExitCode != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	w.setCondition(pod, corev1.PodReady, false, "PodFailed", "")
	return text
}

// reasonOf returns the kubelet's reason for an exit code.
func reasonOf(code int32) string {
	if code == 0 {
		return "Completed"
	}
	return "Error"
}
