/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// keptApart reports whether a required anti-affinity keeps a pod away from the only node: its own, or that of a pod there.
func (w *World) keptApart(pod *corev1.Pod) bool {
	return w.oneNode && slices.ContainsFunc(store.All[*corev1.Pod](w.Store), func(other *corev1.Pod) bool {
		return other.Name != pod.Name && Runs(other) && !HasEnded(other) && (repels(pod, other) || repels(other, pod))
	})
}

func repels(pod, other *corev1.Pod) bool {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return false
	}
	return slices.ContainsFunc(pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution,
		func(term corev1.PodAffinityTerm) bool {
			selector, err := metav1.LabelSelectorAsSelector(term.LabelSelector)
			Must(err)
			return selector.Matches(labels.Set(other.Labels))
		})
}
