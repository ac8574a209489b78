/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// infeasible is a size to which no volume grows.
var infeasible = resource.MustParse("100Gi")

// runVolumes binds claims, grows volumes, and removes a deleted claim after no pod uses it.
func (w *World) runVolumes() {
	for _, claim := range store.All[*corev1.PersistentVolumeClaim](w.Store) {
		switch {
		case w.delays():
		case claim.DeletionTimestamp != nil:
			if store.HasFinalizer(claim, store.ClaimProtection) && !w.used(claim) {
				store.WithoutFinalizer(claim, store.ClaimProtection)
				w.Store.Put(claim)
				w.journal.add(w.by, fmt.Sprintf("claim %s is in use by no pod any more", claim.Name))
			}
		case claim.Status.Phase != corev1.ClaimBound:
			claim.Spec.VolumeName = "volume-of-" + claim.Name
			claim.Status.Phase, claim.Status.Capacity = corev1.ClaimBound, claim.Spec.Resources.Requests.DeepCopy()
			w.Store.Put(claim)
			w.journal.add(w.by, fmt.Sprintf("claim %s is bound", claim.Name))
		default:
			w.grow(claim)
		}
	}
}

// used reports whether a pod on a node uses a claim. Kubernetes deletes that of a pod without a node.
func (w *World) used(claim *corev1.PersistentVolumeClaim) bool {
	return slices.ContainsFunc(store.All[*corev1.Pod](w.Store), func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName != "" && slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool {
			return claimName(pod, v) == claim.Name
		})
	})
}

func (w *World) grow(claim *corev1.PersistentVolumeClaim) {
	wanted, has := *claim.Spec.Resources.Requests.Storage(), *claim.Status.Capacity.Storage()
	what := ""
	switch order := wanted.Cmp(has); {
	case order > 0 && wanted.Cmp(infeasible) >= 0:
		claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{
			corev1.ResourceStorage: corev1.PersistentVolumeClaimControllerResizeInfeasible,
		}
		claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{
			Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue, Message: "the backend has no room",
		}}
		what = fmt.Sprintf("cannot grow to %s: the backend has no room", &wanted)
	case order > 0:
		claim.Status.Capacity[corev1.ResourceStorage] = wanted
		w.disk.used[claim.UID] = int32(int64(w.disk.used[claim.UID]) * has.Value() / wanted.Value()) //nolint:gosec // at most 100
		delete(w.disk.full, claim.UID)
		claim.Status.AllocatedResourceStatuses, claim.Status.Conditions = nil, nil
		what = fmt.Sprintf("has grown to %s", &wanted)
	default:
		claim.Status.AllocatedResourceStatuses, claim.Status.Conditions = nil, nil
		what = fmt.Sprintf("stays at %s", &wanted)
	}
	if w.Store.Put(claim) {
		w.journal.add(w.by, fmt.Sprintf("claim %s %s", claim.Name, what))
	}
}
