/*
SPDX-License-Identifier: Apache-2.0
*/

package pods

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestThePodOfACompanionIsCorrectedInItsOwnSpec(t *testing.T) {
	noImage := corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
		Name: "companion", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}},
	}}}
	crowded := corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints.",
	}}}
	noNode := corev1.PodStatus{Conditions: []corev1.PodCondition{{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
	}}}
	for name, c := range map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"no image":     {noImage, "Correct spec.image or spec.pod.imagePullSecrets of the DatabaseCompanion"},
		"no node":      {noNode, "Correct spec.scheduling or spec.resources of the DatabaseCompanion, or add a node"},
		"uneven zones": {crowded, "Correct spec.scheduling or spec.resources of the DatabaseCompanion, or add a node"},
	} {
		if got := Remedy(&corev1.Pod{Status: c.status}, Source{"DatabaseCompanion", "spec.resources"}); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
