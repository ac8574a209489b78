/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPodsLeaveANodeThatIsCordonedOrThatAnAutoscalerRemoves(t *testing.T) {
	tainted := func(keys ...string) *corev1.Node {
		node := &corev1.Node{}
		for _, key := range keys {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: key, Effect: corev1.TaintEffectNoSchedule})
		}
		return node
	}
	for want, node := range map[string]*corev1.Node{
		"":                                     tainted("node.kubernetes.io/not-ready", "dedicated", "DeletionCandidateOfClusterAutoscaler"),
		"is cordoned":                          {Spec: corev1.NodeSpec{Unschedulable: true}},
		"has the taint karpenter.sh/disrupted": tainted("dedicated", "karpenter.sh/disrupted"),
		"has the taint ToBeDeletedByClusterAutoscaler":              tainted("ToBeDeletedByClusterAutoscaler"),
		"has the taint node.kubernetes.io/out-of-service":           tainted("node.kubernetes.io/out-of-service"),
		"has the taint cloud.google.com/impending-node-termination": tainted("cloud.google.com/impending-node-termination"),
	} {
		if got := Leaving(node); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
