/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// leaving are the taints by which an autoscaler or a cloud announces that it removes a node, and the one of a node that is out of service.
// A cordoned node has spec.unschedulable.
var leaving = []string{
	"karpenter.sh/disrupted",
	"karpenter.sh/disruption",
	"ToBeDeletedByClusterAutoscaler",
	"cloud.google.com/impending-node-termination",
	corev1.TaintNodeOutOfService,
}

// Leaving is why pods have to leave a node, after its name; "" for no reason. The watch on nodes accepts an event only if this changes.
func Leaving(node *corev1.Node) string {
	if node.Spec.Unschedulable {
		return "is cordoned"
	}
	for _, key := range leaving {
		if slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key }) {
			return "has the taint " + key
		}
	}
	return ""
}
