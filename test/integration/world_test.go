//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// patience is the timeout of each wait. It measures nothing: a busy machine is slow, and other tests run in parallel.
const patience = 3 * time.Minute

// smallest is the smallest manifest: four fields.
func smallest(ns, name string) *dbv1.DatabaseCluster {
	return &dbv1.DatabaseCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: dbv1.DatabaseClusterSpec{
			Replicas:  3,
			Image:     "example.test/database:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
			Storage:   dbv1.ClusterStorage{Size: resource.MustParse("1Gi")},
		},
	}
}

// created creates a cluster in its own namespace.
func created(t *testing.T, change func(*dbv1.DatabaseCluster)) *dbv1.DatabaseCluster {
	t.Helper()
	cluster := smallest(namespace(t), "orders")
	if change != nil {
		change(cluster)
	}
	create(t, cluster)
	return cluster
}

// started creates a cluster in its own namespace, with a kubelet, and waits until it is ready.
func started(t *testing.T, change func(*dbv1.DatabaseCluster), act func(*corev1.Pod)) *dbv1.DatabaseCluster {
	t.Helper()
	cluster := created(t, change)
	kubelet(t, cluster.Namespace, act)
	awaitReady(t, cluster)
	return cluster
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := admin.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, object client.Object, options ...client.DeleteOption) {
	t.Helper()
	if err := admin.Delete(t.Context(), object, options...); err != nil {
		t.Fatal(err)
	}
}

// createFor creates an object outside the namespace of a test, and deletes it when the test ends.
func createFor(t *testing.T, object client.Object) {
	t.Helper()
	create(t, object)
	t.Cleanup(func() { _ = admin.Delete(context.WithoutCancel(t.Context()), object) })
}

// read reads the latest version of an object.
func read[T client.Object](t *testing.T, object T) T {
	t.Helper()
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// listed returns the objects of a kind in a namespace.
func listed[L client.ObjectList](t *testing.T, ns string, list L, labels client.MatchingLabels) L {
	t.Helper()
	if err := admin.List(t.Context(), list, client.InNamespace(ns), labels); err != nil {
		t.Fatal(err)
	}
	return list
}

// change edits the latest version of an object.
func change[T client.Object](t *testing.T, object T, edit func(T)) {
	t.Helper()
	eventually(t, "change "+object.GetName(), func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		edit(object)
		return admin.Update(t.Context(), object)
	})
}

// eventually waits until a check passes. On timeout, it fails with the last error.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: not within %s: %v", what, patience, err)
}

// await reads an object until it has the expected state.
func await(t *testing.T, object client.Object, what string, fits func() bool) {
	t.Helper()
	eventually(t, what, func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		return errorIf(!fits(), "the object is %+v", object)
	})
}

// errorIf returns an error with the actual state if a condition is true.
func errorIf(is bool, format string, args ...any) error {
	if is {
		return fmt.Errorf(format, args...)
	}
	return nil
}

// awaitCondition waits for a condition of a cluster and returns it.
func awaitCondition(t *testing.T, cluster *dbv1.DatabaseCluster, kind string, status metav1.ConditionStatus, reason string, parts ...string) metav1.Condition {
	t.Helper()
	var found *metav1.Condition
	await(t, cluster, fmt.Sprintf("%s to be %s (%s) with %q", kind, status, reason, parts), func() bool {
		found = meta.FindStatusCondition(cluster.Status.Conditions, kind)
		return found != nil && found.Status == status && found.Reason == reason && found.ObservedGeneration == cluster.Generation &&
			containsAll(found.Message, parts...)
	})
	return *found
}

// awaitTrue waits until a condition of a cluster is True with a reason and the parts of a message.
func awaitTrue(t *testing.T, cluster *dbv1.DatabaseCluster, kind, reason string, parts ...string) {
	t.Helper()
	awaitCondition(t, cluster, kind, metav1.ConditionTrue, reason, parts...)
}

func awaitReady(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	awaitTrue(t, cluster, dbv1.ConditionReady, dbv1.ReasonReady)
}

// kubelet calls act for the pods of a namespace until the test ends, and stores their status.
func kubelet(t *testing.T, ns string, act func(*corev1.Pod)) {
	t.Helper()
	repeat(t, func(ctx context.Context) {
		pods := &corev1.PodList{}
		_ = admin.List(ctx, pods, client.InNamespace(ns))
		for i := range pods.Items {
			pod := &pods.Items[i]
			admitted.record(pod)
			before := pod.DeepCopy()
			if act(pod); pod.DeletionTimestamp == nil && !equality.Semantic.DeepEqual(before, pod) {
				_ = admin.Status().Patch(ctx, pod, client.MergeFrom(before))
			}
		}
	})
}

// repeat calls a function until the test ends.
func repeat(t *testing.T, act func(context.Context)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			act(ctx)
			time.Sleep(100 * time.Millisecond)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// healthy sets members ready and hooks succeeded.
func healthy(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentHook {
		pod.Status.Phase = corev1.PodSucceeded
		return
	}
	pod.Status.Phase = corev1.PodRunning
	setReady(pod, corev1.ConditionTrue)
}

// unlessStuck sets members healthy, except those with the annotation test/stuck.
func unlessStuck(pod *corev1.Pod) {
	if pod.Annotations["test/stuck"] == "" {
		healthy(pod)
	}
}

// broken lets members with an image wait for the image, and sets other members ready.
func broken(image string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Spec.Containers[0].Image != image {
			healthy(pod)
			return
		}
		pod.Status.Phase = corev1.PodPending
		setReady(pod, corev1.ConditionFalse)
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "database", Image: image,
			State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}},
		}}
	}
}

func setReady(pod *corev1.Pod, status corev1.ConditionStatus) {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == corev1.PodReady {
			if c.Status != status {
				c.Status, c.LastTransitionTime = status, metav1.Now()
			}
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodReady, Status: status, LastTransitionTime: metav1.Now()})
}

func awaitDeleted(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, object.GetName()+" to be deleted", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil {
			return fmt.Errorf("it still exists, finalizers %v", object.GetFinalizers())
		}
		return client.IgnoreNotFound(err)
	})
}

func mustContain(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}

func containsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// without returns a list without an element.
func without(list []string, element string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return e == element })
}
