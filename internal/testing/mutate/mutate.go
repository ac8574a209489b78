/*
SPDX-License-Identifier: Apache-2.0
*/

// Package mutate changes objects field by field, so that tests can detect which fields the code reads.
package mutate

import (
	"iter"
	"reflect"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// deepest is the maximum depth of mutations in an object. No code reads deeper fields.
const deepest = 7

// Each returns copies of an object that differ from it in one field each, by the path of the field. A change of the
// spec increments metadata.generation, as in the API server. Names and versions do not change.
func Each(object client.Object) iter.Seq2[string, client.Object] {
	return func(yield func(string, client.Object) bool) {
		for _, path := range paths(reflect.ValueOf(object).Elem(), "", 0) {
			mutated := object.DeepCopyObject().(client.Object) //nolint:errcheck // a copy is of the same type
			mutate(reflect.ValueOf(mutated).Elem(), strings.Split(path, ".")[1:])
			if strings.HasPrefix(path, ".Spec") && mutated.GetGeneration() > 0 {
				mutated.SetGeneration(mutated.GetGeneration() + 1)
			}
			if !yield(path, mutated) {
				return
			}
		}
	}
}

var fixed = map[string]bool{
	".TypeMeta": true, ".ObjectMeta.Name": true, ".ObjectMeta.Namespace": true, ".ObjectMeta.ResourceVersion": true,
	".ObjectMeta.ManagedFields": true, ".ObjectMeta.Generation": true, ".ObjectMeta.SelfLink": true,
	".ObjectMeta.GenerateName": true, ".ObjectMeta.CreationTimestamp": true, ".ObjectMeta.DeletionGracePeriodSeconds": true,
	// The fake client adds a finalizer to a deleted object. Tests cannot distinguish it from a mutation.
	".ObjectMeta.Finalizers": true,
}

// paths returns the leaf fields of a type, including the fields below nil pointers and empty lists.
func paths(value reflect.Value, at string, depth int) []string {
	if fixed[at] {
		return nil
	}
	kind := value.Type()
	switch {
	case depth > deepest, isLeaf(kind), kind.Kind() == reflect.Map:
		return []string{at}
	case kind.Kind() == reflect.Pointer:
		return paths(reflect.New(kind.Elem()).Elem(), at, depth)
	case kind.Kind() == reflect.Slice:
		return paths(reflect.New(kind.Elem()).Elem(), at+".0", depth+1)
	case kind.Kind() == reflect.Struct:
		var all []string
		for i := range kind.NumField() {
			if field := kind.Field(i); field.IsExported() {
				all = append(all, paths(value.Field(i), at+"."+field.Name, depth+1)...)
			}
		}
		return all
	default:
		return []string{at}
	}
}

func isLeaf(kind reflect.Type) bool {
	return kind == reflect.TypeFor[metav1.Time]() || kind == reflect.TypeFor[resource.Quantity]() || kind == reflect.TypeFor[metav1.FieldsV1]()
}

// mutate changes the leaf field at a path. It initializes nil pointers and empty lists on the way.
func mutate(value reflect.Value, path []string) {
	switch {
	case value.Kind() == reflect.Pointer:
		if value.IsNil() {
			value.Set(reflect.New(value.Type().Elem()))
		}
		mutate(value.Elem(), path)
	case len(path) == 0:
		change(value)
	case value.Kind() == reflect.Slice:
		if value.Len() == 0 {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			name(value.Index(0))
		}
		mutate(value.Index(0), path[1:])
	default:
		mutate(value.FieldByName(path[0]), path[1:])
	}
}

// name sets the type and the status of a new condition, because readers select conditions by them.
func name(element reflect.Value) {
	switch made := element.Addr().Interface().(type) {
	case *corev1.PodCondition:
		*made = corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse}
	case *corev1.PersistentVolumeClaimCondition:
		*made = corev1.PersistentVolumeClaimCondition{Type: corev1.PersistentVolumeClaimControllerResizeError, Status: corev1.ConditionTrue}
	case *corev1.Container:
		made.Name = naming.Container
	case *corev1.ContainerStatus:
		made.Name = naming.Container
	}
}

func change(value reflect.Value) {
	switch v := value.Addr().Interface().(type) {
	case *metav1.Time:
		*v = metav1.NewTime(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
		return
	case *resource.Quantity:
		v.Add(resource.MustParse("1"))
		return
	}
	switch value.Kind() {
	case reflect.String:
		value.SetString(value.String() + "x")
	case reflect.Bool:
		value.SetBool(!value.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		value.SetInt(value.Int() + 1)
	case reflect.Map:
		key, element := reflect.New(value.Type().Key()).Elem(), reflect.New(value.Type().Elem()).Elem()
		grown := reflect.MakeMap(value.Type())
		for _, k := range value.MapKeys() {
			grown.SetMapIndex(k, value.MapIndex(k))
		}
		key.SetString("mutated")
		if quantity, ok := reflect.TypeAssert[*resource.Quantity](element.Addr()); ok {
			key.SetString(string(corev1.ResourceStorage)) // the only resource that the code reads from maps
			quantity.Add(resource.MustParse("7Gi"))
		}
		grown.SetMapIndex(key, element)
		value.Set(grown)
	default: // a list of bytes or an interface: not read
	}
}
