/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

func (w *World) maxUnavailable() int {
	return int(max(1, w.Cluster().Spec.UpdateStrategy.MaxUnavailable))
}

// serving returns the members that are ready and not terminating.
func (w *World) serving() []*corev1.Pod {
	return slices.DeleteFunc(w.Members(), func(pod *corev1.Pod) bool { return !IsReady(pod) || pod.DeletionTimestamp != nil })
}

// IsMember reports whether a pod is one of a member.
func IsMember(pod *corev1.Pod) bool { return pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase }

// Members are the pods of the StatefulSet.
func (w *World) Members() []*corev1.Pod {
	set := store.Get[*appsv1.StatefulSet](w.Store, w.Name)
	if set == nil {
		return nil
	}
	return podsOf(w.Store, set)
}

// wanted is the number of members in the spec.
func (w *World) wanted(cluster *dbv1.DatabaseCluster) int {
	if cluster.Spec.Hibernated {
		return 0
	}
	return int(cluster.Spec.Replicas)
}
