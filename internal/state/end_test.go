/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

func TestTheEndOfADatabaseComesFromTheKubelet(t *testing.T) {
	exited := func(code int32) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: naming.Container, ContainerID: "c", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, ContainerID: "c"},
		}}
	}
	// The kubelet reports this status for a container that it has never created.
	never := exited(137)
	never.ContainerID, never.State.Terminated.ContainerID = "", ""
	crashed := exited(1)
	crashed.ContainerID = ""
	runs := corev1.ContainerStatus{Name: naming.Container, ContainerID: "c", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	cases := map[string]struct {
		phase  corev1.PodPhase
		node   string
		status corev1.ContainerStatus
		want   End
	}{
		"cleanly":                           {corev1.PodSucceeded, "n", exited(0), End{Reached: true, Known: true}},
		"with a code":                       {corev1.PodFailed, "n", exited(137), End{Reached: true, Known: true, Code: 137}},
		"not yet, though its container has": {corev1.PodRunning, "n", exited(0), End{}},
		"not yet":                           {corev1.PodRunning, "n", runs, End{}},
		"never having run":                  {corev1.PodFailed, "n", never, End{Reached: true, Never: true}},
		"between two crashes":               {corev1.PodFailed, "n", crashed, End{Reached: true, Known: true, Code: 1}},
		"on a lost node, so the exit code is unknown": {corev1.PodFailed, "n", runs, End{Reached: true}},
		"never having had a node":                     {corev1.PodPending, "", corev1.ContainerStatus{Name: "other"}, End{Reached: true, Never: true}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}
			pod.Status.Phase, pod.Spec.NodeName = c.phase, c.node
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar", ContainerID: "s"}, c.status}
			if got := MemberOf(pod, 0).End; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			pod.DeletionTimestamp = nil
			if got := MemberOf(pod, 0).End; got != (End{}) {
				t.Errorf("a pod that stays has ended: %+v", got)
			}
		})
	}
}

func TestAnOrphanIsAMemberWithoutControllerThatIsNotTerminating(t *testing.T) {
	owned := []metav1.OwnerReference{{Kind: "StatefulSet", Name: "orders", Controller: new(true)}}
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"it has no owner":      {func(*corev1.Pod) {}, true},
		"it has a controller":  {func(p *corev1.Pod) { p.OwnerReferences = owned }, false},
		"it is on its way out": {func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.Now()) }, false},
		"it has an owner, no controller": {func(p *corev1.Pod) {
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: "orders"}}
		}, true},
		"a copy, which no StatefulSet adopts": {func(p *corev1.Pod) { p.Name = "orders-1-debug" }, false},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-1", Labels: naming.Selector("orders")}}
		c.change(pod)
		if got := BystanderOf(pod).Orphan; got != c.want {
			t.Errorf("%s: orphan %t", name, got)
		}
	}
}

func TestADatabaseThatReachedItsMemoryLimitIsOutOfMemory(t *testing.T) {
	ended := func(reason string) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{Reason: reason}
	}
	for name, c := range map[string]struct {
		status corev1.ContainerStatus
		want   bool
	}{
		"now":                          {corev1.ContainerStatus{Name: naming.Container, State: corev1.ContainerState{Terminated: ended("OOMKilled")}}, true},
		"before its restart":           {corev1.ContainerStatus{Name: naming.Container, LastTerminationState: corev1.ContainerState{Terminated: ended("OOMKilled")}}, true},
		"another error":                {corev1.ContainerStatus{Name: naming.Container, State: corev1.ContainerState{Terminated: ended("Error")}}, false},
		"another error since":          {corev1.ContainerStatus{Name: naming.Container, State: corev1.ContainerState{Terminated: ended("Error")}, LastTerminationState: corev1.ContainerState{Terminated: ended("OOMKilled")}}, false},
		"a sidecar":                    {corev1.ContainerStatus{Name: "sidecar", State: corev1.ContainerState{Terminated: ended("OOMKilled")}}, false},
		"one that has never ended yet": {corev1.ContainerStatus{Name: naming.Container}, false},
	} {
		pod := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{c.status}}}
		if got := MemberOf(pod, 0).OutOfMemory; got != c.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
