/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// collectGarbage removes objects whose owners no longer exist, and handles dependents as the propagation policy of
// their owner requires.
func (w *world) collectGarbage() {
	for _, object := range w.store.sorted() {
		object = object.DeepCopyObject().(client.Object)
		switch {
		case w.delays():
		case hasFinalizer(object, metav1.FinalizerOrphanDependents):
			w.orphan(object)
		case hasFinalizer(object, metav1.FinalizerDeleteDependents) && len(w.dependents(object.GetUID())) == 0:
			withoutFinalizer(object, metav1.FinalizerDeleteDependents)
			w.store.put(object)
		case object.GetDeletionTimestamp() == nil && w.isGarbage(object):
			w.story.add(w.by, "removes "+ref(object))
			object.SetDeletionTimestamp(new(metav1.NewTime(w.clock.Now())))
			if len(w.dependents(object.GetUID())) > 0 && w.ownedInForeground(object) {
				object.SetFinalizers(append(object.GetFinalizers(), metav1.FinalizerDeleteDependents))
			}
			w.store.put(object)
		}
	}
}

// ownedInForeground reports whether an owner of an object waits for its dependents. Then the object waits for its own, too.
func (w *world) ownedInForeground(object client.Object) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		for _, owner := range w.store.sorted() {
			if owner.GetUID() == r.UID {
				return true
			}
		}
		return false
	})
}

// orphan removes the owner reference from the dependents, then the finalizer from the owner.
func (w *world) orphan(owner client.Object) {
	for _, dependent := range w.dependents(owner.GetUID()) {
		dependent.SetOwnerReferences(slices.DeleteFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner.GetUID() }))
		w.store.put(dependent)
	}
	withoutFinalizer(owner, metav1.FinalizerOrphanDependents)
	w.store.put(owner)
	w.story.add(w.by, fmt.Sprintf("lets %s go and its pods stay", ref(owner)))
}

func (w *world) dependents(owner types.UID) []client.Object {
	var found []client.Object
	for _, object := range w.store.sorted() {
		if slices.ContainsFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == owner }) {
			found = append(found, object.DeepCopyObject().(client.Object))
		}
	}
	return found
}

// isGarbage reports whether each owner of an object no longer exists, or waits for its dependents in a foreground
// deletion.
func (w *world) isGarbage(object client.Object) bool {
	owners := object.GetOwnerReferences()
	return len(owners) > 0 && !slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool {
		for _, owner := range w.store.sorted() {
			if owner.GetUID() == r.UID {
				return !hasFinalizer(owner, metav1.FinalizerDeleteDependents)
			}
		}
		return false
	})
}
