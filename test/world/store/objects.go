/*
SPDX-License-Identifier: Apache-2.0
*/

package store

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// All returns the objects of a kind, by name.
func All[T client.Object](s *Store) []T {
	var found []T
	for _, object := range s.Sorted() {
		if typed, ok := object.(T); ok {
			found = append(found, typed.DeepCopyObject().(T))
		}
	}
	return found
}

// Get returns an object of a kind, or nil.
func Get[T client.Object](s *Store, name string) T {
	var none T
	for _, object := range s.objects {
		if typed, ok := object.(T); ok && object.GetName() == name {
			return typed.DeepCopyObject().(T)
		}
	}
	return none
}

// Put stores an object and reports whether that changed anything.
func (s *Store) Put(object client.Object) bool {
	at := id{s.resource(object), client.ObjectKeyFromObject(object)}
	object.GetObjectKind().SetGroupVersionKind(s.kind(object))
	if before := s.objects[at]; before != nil && equality.Semantic.DeepEqual(before, object) {
		return false
	}
	if object.GetDeletionTimestamp() != nil && len(object.GetFinalizers()) == 0 {
		s.Remove(object)
		return true
	}
	if err := s.commit(at, object); err != nil {
		panic(err)
	}
	return true
}

// Remove removes an object at once, despite its finalizers.
func (s *Store) Remove(object client.Object) {
	at := id{s.resource(object), client.ObjectKeyFromObject(object)}
	before := s.objects[at]
	delete(s.objects, at)
	s.Version++
	s.notify(Change{Before: before})
}
