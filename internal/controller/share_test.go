/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"maps"
	"reflect"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func cachedClaim(t *testing.T, ordinal, size string) *corev1.PersistentVolumeClaim {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data-orders-" + ordinal, Labels: map[string]string{"instance": "orders"}, Annotations: map[string]string{"a": "b"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}
	before := claim.DeepCopy()
	after, err := Sharing(func(object any) (any, error) { return object, nil })(claim)
	if err != nil || !equality.Semantic.DeepEqual(before, after) {
		t.Fatalf("%v: the cache has %v instead of %v", err, after, before)
	}
	return after.(*corev1.PersistentVolumeClaim)
}

func TestObjectsInTheCacheShareEqualMaps(t *testing.T) {
	first, second, larger := cachedClaim(t, "0", "10Gi"), cachedClaim(t, "1", "10Gi"), cachedClaim(t, "2", "20Gi")
	same := func(a, b any) bool { return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() }
	if !same(first.Labels, second.Labels) || !same(first.Labels, larger.Labels) || !same(first.Spec.Resources.Requests, second.Spec.Resources.Requests) {
		t.Error("equal labels and amounts take memory twice")
	}
	if same(first.Spec.Resources.Requests, larger.Spec.Resources.Requests) || same(first.Annotations, second.Annotations) {
		t.Error("objects share different amounts, or annotations")
	}
}

type tree struct {
	Name     string
	Labels   map[string]string
	Children []tree
	private  map[string]string
}

func TestMapsAreFoundInATypeThatContainsItself(t *testing.T) {
	leaf := func() tree {
		return tree{Labels: map[string]string{"leaf": "of a tree"}, private: map[string]string{"a": "b"}}
	}
	value := tree{Children: []tree{leaf(), {Children: []tree{leaf()}}}}
	share(reflect.ValueOf(&value))
	first, second := value.Children[0].Labels, value.Children[1].Children[0].Labels
	if reflect.ValueOf(first).Pointer() != reflect.ValueOf(second).Pointer() {
		t.Error("equal maps of a tree are not shared")
	}
	if value.Children[0].private["a"] != "b" {
		t.Error("a field that is not exported has changed")
	}
}

func TestMapsWithTheSameHashAreNotConfused(t *testing.T) {
	table := shared[string, string]{}
	text := func(string) string { return "" } // every value has the same hash
	same := func(a, b string) bool { return a == b }
	table.like(map[string]string{"key": "one"}, same, text)
	if got := table.like(map[string]string{"key": "two"}, same, text); got["key"] != "two" {
		t.Errorf("got %v", got)
	}
}

func TestTheMemoryOfSharedMapsIsBounded(t *testing.T) {
	table := shared[string, string]{}
	text := func(value string) string { return value }
	for i := range 3 * mostShared {
		m := map[string]string{"number": strconv.Itoa(i)}
		if got := table.like(m, func(a, b string) bool { return a == b }, text); !maps.Equal(got, m) {
			t.Fatalf("got %v", got)
		}
		if len(table.known) > mostShared {
			t.Fatalf("%d maps", len(table.known))
		}
	}
}
