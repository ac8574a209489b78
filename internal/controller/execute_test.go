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
	"k8s.io/apimachinery/pkg/types"
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
	cluster.Status.StatefulSet = &dbv1.WrittenWorkload{UID: "u", Generation: 1, SpecHash: objects.StoredSpecHash(set)}
	s := newServer(t, cluster, set)
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(set), set); err != nil {
		t.Fatal(err)
	}
	child := objects.Child{Object: &unstructured.Unstructured{Object: object}}.RecordingStoredSpec(cluster.Status.StatefulSet)
	if _, err := executed(t, s, cluster, operation.Apply{Child: child, UID: set.UID, Version: set.ResourceVersion}); err != nil {
		t.Fatal(err)
	}
	after := &appsv1.StatefulSet{}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(set), after); err != nil {
		t.Fatal(err)
	}
	after.Generation, after.Spec.Template.Spec.PriorityClassName = 2, "edited"
	if objects.Untouched(cluster.Status.StatefulSet, after) {
		t.Errorf("the edit is not seen: the annotation is %q", after.Annotations[dbv1.AnnotationStoredSpec])
	}
}

func TestThePodOfARebuiltMemberStaysIfItsClaimCannotBeDeletedBefore(t *testing.T) {
	claim, pod := &corev1.PersistentVolumeClaim{}, &corev1.Pod{}
	claim.Namespace, claim.Name, claim.UID = "shop", "data-orders-1", "claim"
	pod.Namespace, pod.Name, pod.UID = "shop", "orders-1", "pod"
	for version, left := range map[string]bool{"1": true, "999": false} {
		s := newServer(t, claim.DeepCopy(), pod.DeepCopy())
		first := operation.TargetOf(operation.Core("PersistentVolumeClaim"), claim)
		first.Version = version
		rebuild := operation.Delete{Objects: []operation.Removal{{Target: first}, {Target: operation.TargetOf(operation.Core("Pod"), stored(t, s, pod))}}, Ordered: true}
		rebuild.Event = operation.Normal("MemberRebuilt", "Rebuild", "")
		done, err := executed(t, s, running(), rebuild)
		gone := apierrors.IsNotFound(s.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{}))
		if gone == left || (err != nil) != left || (len(done) == 0) != left {
			t.Errorf("claim in version %s: the pod is deleted: %v; %v, %v", version, gone, done, err)
		}
	}
}

func TestAPodThatHasReplacedTheOneToHoldStays(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders-1", UID: "pod"}}
	for uid, held := range map[types.UID]bool{"pod": true, "earlier": false} {
		s := newServer(t, pod.DeepCopy())
		hold := operation.Stop(operation.Work{Event: operation.Warning("MemberHeld", "Hold", "")}, state.Member{Name: pod.Name, UID: uid})
		hold.Hold = true
		done, err := executed(t, s, running(), hold)
		after := stored(t, s, pod)
		if err != nil || (after.DeletionTimestamp != nil) != held || state.HasFinalizer(after) != held || (len(done) == 1) != held {
			t.Errorf("pod with UID %s: %+v, %v, %v", uid, after.ObjectMeta, done, err)
		}
	}
}

func stored(t *testing.T, s *server, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	after := &corev1.Pod{}
	if err := s.Get(t.Context(), client.ObjectKeyFromObject(pod), after); err != nil {
		t.Fatal(err)
	}
	return after
}
