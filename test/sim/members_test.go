/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func (w *world) maxUnavailable() int {
	return int(max(1, w.cluster().Spec.UpdateStrategy.MaxUnavailable))
}

// serving returns the members that are ready and not terminating.
func (w *world) serving() []*corev1.Pod {
	return slices.DeleteFunc(w.members(), func(pod *corev1.Pod) bool { return !isReady(pod) || pod.DeletionTimestamp != nil })
}

func isMember(pod *corev1.Pod) bool { return pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase }

func (w *world) members() []*corev1.Pod {
	set := get[*appsv1.StatefulSet](w.store, w.name)
	if set == nil {
		return nil
	}
	return podsOf(w.store, set)
}

// wanted is the number of members in the spec.
func (w *world) wanted(cluster *dbv1.DatabaseCluster) int {
	if cluster.Spec.Hibernated {
		return 0
	}
	return int(cluster.Spec.Replicas)
}
