/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"hash/maphash"
	"maps"
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// The objects of a cluster have the same labels, selectors and amounts of resources. In the cache they share them, because a map needs
// half a kilobyte or more, whatever is in it. Code that changes an object copies it first.

// Sharing returns a transform of cached objects that also lets their maps be shared.
func Sharing(transform cache.TransformFunc) cache.TransformFunc {
	return func(object any) (any, error) {
		object, err := transform(object)
		if live, ok := object.(metav1.Object); ok && err == nil {
			share(reflect.ValueOf(live))
		}
		return object, err
	}
}

// share replaces each map in a value by an equal one of another object. Annotations differ, and stay as they are.
func share(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			share(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			share(v.Index(i))
		}
	case reflect.Struct:
		if meta, ok := reflect.TypeAssert[*metav1.ObjectMeta](v.Addr()); ok {
			share(reflect.ValueOf(&meta.Labels).Elem())
			return
		}
		for _, i := range fieldsWithMaps(v.Type()) {
			share(v.Field(i))
		}
	case reflect.Map:
		shareMap(v)
	default: // has no map
	}
}

// withMaps are the fields of a struct in which maps may be, by its type.
var withMaps sync.Map

func fieldsWithMaps(t reflect.Type) []int {
	if known, ok := withMaps.Load(t); ok {
		return known.([]int) //nolint:errcheck,forcetypeassert // the only type in it
	}
	var exported []int
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			exported = append(exported, i)
		}
	}
	withMaps.Store(t, exported) // a type that contains itself may have maps
	fields := slices.DeleteFunc(slices.Clone(exported), func(i int) bool { return !mayHaveMap(t.Field(i).Type) })
	withMaps.Store(t, fields)
	return fields
}

func mayHaveMap(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Map:
		return true
	case reflect.Pointer, reflect.Slice:
		return mayHaveMap(t.Elem())
	case reflect.Struct:
		return t == reflect.TypeFor[metav1.ObjectMeta]() || len(fieldsWithMaps(t)) > 0
	default:
		return false
	}
}

func shareMap(v reflect.Value) {
	switch pointer := v.Addr().Interface().(type) {
	case *map[string]string:
		*pointer = texts.like(*pointer, func(a, b string) bool { return a == b }, func(text string) string { return text })
	case *corev1.ResourceList:
		text := func(amount resource.Quantity) string { return amount.String() }
		*pointer = amounts.like(*pointer, func(a, b resource.Quantity) bool { return text(a) == text(b) }, text)
	}
}

var (
	texts   = shared[string, string]{}
	amounts = shared[corev1.ResourceName, resource.Quantity]{}
	seed    = maphash.MakeSeed()
)

// mostShared is the number of maps that the operator remembers for others. Then it begins again.
const mostShared = 8192

// shared are maps that objects of the cache share, by their hash.
type shared[K ~string, V any] struct {
	mutex sync.Mutex
	known map[uint64]map[K]V
}

// like returns the first map that was equal to the given one. text is the part of a value that decides.
func (s *shared[K, V]) like(m map[K]V, same func(V, V) bool, text func(V) string) map[K]V {
	if len(m) == 0 {
		return m
	}
	var hash uint64
	for key, value := range m { // in any order
		hash += maphash.Comparable(seed, [2]string{string(key), text(value)})
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if found, ok := s.known[hash]; ok && maps.EqualFunc(found, m, same) {
		return found
	}
	if s.known == nil || len(s.known) >= mostShared {
		s.known = map[uint64]map[K]V{}
	}
	s.known[hash] = m
	return m
}
