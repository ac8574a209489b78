/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"maps"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// creationDelay is how long a change of a cluster waits. The pass that adds the finalizer goes on, so it needs no other one at once.
func creationDelay(before, after client.Object) time.Duration {
	if before != nil && after != nil && !controllerutil.ContainsFinalizer(before, dbv1.Finalizer) &&
		controllerutil.ContainsFinalizer(after, dbv1.Finalizer) &&
		before.GetGeneration() == after.GetGeneration() && after.GetDeletionTimestamp() == nil &&
		maps.Equal(before.GetAnnotations(), after.GetAnnotations()) {
		return kit.StatusDelay
	}
	return 0
}

// burstDelay is how long a change waits of an object that changes together with others while members start.
func burstDelay(before, after client.Object) time.Duration {
	switch {
	case becomesReady(before, after):
		return readyDelay
	case before == nil && awaitsData(after):
		return kit.BurstDelay
	case before == nil || after != nil && showsOnlyProgress(before, after):
		return kit.StatusDelay
	default:
		return kit.BurstDelay
	}
}

// readyDelay is how long a member that becomes ready waits for others, which started at the same time. A member that fails does not
// wait for that long.
const readyDelay = 500 * time.Millisecond

func becomesReady(before, after client.Object) bool {
	was, isPod := before.(*corev1.Pod)
	is, exists := after.(*corev1.Pod)
	return isPod && exists && !state.IsReady(was) && state.IsReady(is)
}

// awaitsData reports whether an object is a claim that the operator has created to fill it: the next pass starts the Job.
func awaitsData(created client.Object) bool {
	claim, ok := created.(*corev1.PersistentVolumeClaim)
	return ok && state.ContentsOf(claim).Fill == state.Filling
}

// showsOnlyProgress reports whether a change only shows that a member starts. A pass starts when the member is ready, or cannot start.
func showsOnlyProgress(before, after client.Object) bool {
	switch was := before.(type) {
	case *corev1.Pod:
		is, ok := after.(*corev1.Pod)
		return ok && !state.IsReady(was) && !was.DeletionTimestamp.IsZero() == !is.DeletionTimestamp.IsZero() &&
			equality.Semantic.DeepEqual(startFacts(was), startFacts(is))
	case *corev1.PersistentVolumeClaim:
		is, ok := after.(*corev1.PersistentVolumeClaim)
		return ok && len(was.Status.Capacity) == 0 && len(is.Status.Capacity) > 0
	case *appsv1.StatefulSet:
		return was.Status.ObservedGeneration == 0 && after.GetGeneration() == was.Generation
	default:
		return false
	}
}

// startFacts are the facts of a pod without the progress of its start. A pod that cannot be scheduled usually
// has a node within a moment, when its claim is bound.
func startFacts(pod *corev1.Pod) any {
	m := state.MemberOf(pod, 0).Facts()
	if m.Unscheduled {
		m.Problem, m.Remedy, m.Stuck, m.Unscheduled = "", "", false, false
	}
	if !m.Ready {
		m.ReadySince = metav1.Time{}
	}
	m.Node, m.NodeAddress, m.Zone, m.Image, m.Reports, m.Started, m.Resize = "", "", "", "", "", false, state.PodResize{}
	return m
}
