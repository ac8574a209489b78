/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// collectGarbage removes objects whose owners no longer exist, and handles dependents as the propagation policy of
// their owner requires.
func (w *World) collectGarbage() {
	for _, object := range w.Store.Sorted() {
		object = object.DeepCopyObject().(client.Object)
		switch {
		case w.delays():
		case store.HasFinalizer(object, metav1.FinalizerOrphanDependents):
			w.orphan(object)
		case store.HasFinalizer(object, metav1.FinalizerDeleteDependents) && len(w.dependents(object.GetUID())) == 0:
			store.WithoutFinalizer(object, metav1.FinalizerDeleteDependents)
			w.Store.Put(object)
		case object.GetDeletionTimestamp() == nil && w.isGarbage(object):
			w.journal.add(w.by, "removes "+store.Ref(object))
			object.SetDeletionTimestamp(new(metav1.NewTime(w.Clock.Now())))
			if len(w.dependents(object.GetUID())) > 0 && w.ownedInForeground(object) {
				object.SetFinalizers(append(object.GetFinalizers(), metav1.FinalizerDeleteDependents))
			}
			w.Store.Put(object)
		}
	}
}

// ownedInForeground reports whether an owner of an object waits for its dependents. Then the object waits for its own, too.
func (w *World) ownedInForeground(object client.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		for _, owner := range w.Store.Sorted() {
			if owner.GetUID() == r.UID {
				return true
			}
		}
		return false
	})
}

// orphan removes the owner reference from the dependents, then the finalizer from the owner.
func (w *World) orphan(owner client.Object) {
	for _, dependent := range w.dependents(owner.GetUID()) {
		dependent.SetOwnerReferences(
			slices.DeleteFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }))
		w.Store.Put(dependent)
	}
	store.WithoutFinalizer(owner, metav1.FinalizerOrphanDependents)
	w.Store.Put(owner)
	w.journal.add(w.by, fmt.Sprintf("lets %s go and its pods stay", store.Ref(owner)))
}

func (w *World) dependents(owner types.UID) []client.Object {
	var found []client.Object
	for _, object := range w.Store.Sorted() {
		if slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner }) {
			found = append(found, object.DeepCopyObject().(client.Object))
		}
	}
	return found
}

// isGarbage reports whether each owner of an object no longer exists, or waits for its dependents in a foreground
// deletion.
func (w *World) isGarbage(object client.Object) bool {
	owners := object.GetOwnerReferences()
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool {
		for _, owner := range w.Store.Sorted() {
			if owner.GetUID() == r.UID {
				return !store.HasFinalizer(owner, metav1.FinalizerDeleteDependents)
			}
		}
		return false
	})
}
