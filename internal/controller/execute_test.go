/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// A primary hands over before it restarts, so the next pass decides about the restart.
func TestAResizeThatTheServerRefusesIsRecordedAndStopsNoPod(t *testing.T) {
	resource := schema.GroupResource{Resource: "pods"}
	for name, c := range map[string]struct {
		refusal error
		want    string
	}{
		"another QoS class":            {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "orders-0", nil), "new"},
		"an API server without resize": {apierrors.NewMethodNotSupported(resource, "patch"), "new"},
		"a small node":                 {apierrors.NewForbidden(resource, "orders-0", errors.New("node didn't have enough allocatable resources")), "new"},
		"a quota":                      {apierrors.NewForbidden(resource, "orders-0", errors.New("exceeded quota: shop")), ""},
		"no refusal":                   {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders-0", UID: "pod-0"}}
			s := newServer(t, pod)
			s.writes = func(what string) error {
				if strings.HasPrefix(what, "patch resize") {
					return c.refusal
				}
				return nil
			}
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
				t.Fatal(err)
			}
			m := state.MemberOf(pod, 0)
			events, err := executed(t, s, running(), operation.Resize{Pod: operation.PodOf(m), Revision: "new"})
			if failed := c.refusal != nil && c.want == ""; (err != nil) != failed {
				t.Errorf("events %v, %v", events, err)
			}
			after := &corev1.Pod{}
			if err := s.Get(t.Context(), client.ObjectKeyFromObject(pod), after); err != nil {
				t.Fatal(err) // without a hand-over, no pod is deleted
			}
			if got := state.MemberOf(after, 0).Refused; got != c.want || after.Annotations[dbv1.AnnotationResizeRefused] != c.want {
				t.Errorf("recorded %q, want %q; sent %q", got, c.want, s.sent)
			}
		})
	}
}

// A webhook set the changed field back: the write recorded a generation that does not exist, and would hide the next edit.
func TestARecordOfTheNextGenerationIsReplacedEvenIfTheStatusHasTheHash(t *testing.T) {
	set := &appsv1.StatefulSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"}, ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "orders", UID: "u", Generation: 1, Annotations: map[string]string{dbv1.AnnotationStoredSpec: "generation-2-of-u"},
	}}
	cluster := running()
	cluster.Status.StatefulSet = &dbv1.WrittenStatefulSet{UID: "u", Generation: 1, SpecHash: objects.StoredSpecHash(set)}
	s := newServer(t, cluster, set)
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Fatal(err)
	}
	child := objects.Child{Object: &unstructured.Unstructured{Object: object}}.RecordingStoredSpec(cluster)
	if _, err := executed(t, s, cluster, operation.Apply{Child: child, UID: set.UID, Version: set.ResourceVersion}); err != nil {
		t.Fatal(err)
	}
	after := &appsv1.StatefulSet{}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(set), after); err != nil {
		t.Fatal(err)
	}
	after.Generation, after.Spec.Template.Spec.PriorityClassName = 2, "edited"
	if objects.Untouched(cluster, after) {
		t.Errorf("the edit is not seen: the annotation is %q", after.Annotations[dbv1.AnnotationStoredSpec])
	}
}
