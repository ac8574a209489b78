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

// patience is how long a story waits for what must come. It is no measurement: on a busy machine things
// take long, and other stories go on beside it.
const patience = 3 * time.Minute

// smallest is the smallest manifest: four fields.
func smallest(ns, name string) *dbv1.DatabaseCluster {
	return &dbv1.DatabaseCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: dbv1.DatabaseClusterSpec{
			Replicas:  3,
			Image:     "example.test/database:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
			Storage:   dbv1.Storage{Size: resource.MustParse("1Gi")},
		},
	}
}

// created makes a cluster in a namespace of its own.
func created(t *testing.T, change func(*dbv1.DatabaseCluster)) *dbv1.DatabaseCluster {
	t.Helper()
	cluster := smallest(namespace(t), "orders")
	if change != nil {
		change(cluster)
	}
	create(t, cluster)
	return cluster
}

// started makes a cluster in a namespace of its own, with a kubelet, and waits until it is ready.
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

// createFor makes an object that does not go with the namespace of a test, and removes it when the test ends.
func createFor(t *testing.T, object client.Object) {
	t.Helper()
	create(t, object)
	t.Cleanup(func() { _ = admin.Delete(context.WithoutCancel(t.Context()), object) })
}

// read reads an object anew.
func read[T client.Object](t *testing.T, object T) T {
	t.Helper()
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// listed are the objects of a kind in a namespace.
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

// eventually waits until a check passes, and fails with what it last said.
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

// await reads an object again and again until it is as a test wants it.
func await(t *testing.T, object client.Object, what string, fits func() bool) {
	t.Helper()
	eventually(t, what, func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		return errorIf(!fits(), "it is %+v", object)
	})
}

// errorIf is an error that tells what was found, if that is not what a test waits for.
func errorIf(is bool, format string, args ...any) error {
	if is {
		return fmt.Errorf(format, args...)
	}
	return nil
}

// awaitCondition waits for a condition of a cluster and returns it.
func awaitCondition(t *testing.T, cluster *dbv1.DatabaseCluster, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	t.Helper()
	var found *metav1.Condition
	await(t, cluster, fmt.Sprintf("%s to be %s (%s)", kind, status, reason), func() bool {
		found = meta.FindStatusCondition(cluster.Status.Conditions, kind)
		return found != nil && found.Status == status && found.Reason == reason && found.ObservedGeneration == cluster.Generation
	})
	return *found
}

// awaitTrue waits until a condition of a cluster is True for a reason, with a message that has these parts.
func awaitTrue(t *testing.T, cluster *dbv1.DatabaseCluster, kind, reason string, parts ...string) {
	t.Helper()
	mustContain(t, awaitCondition(t, cluster, kind, metav1.ConditionTrue, reason).Message, parts...)
}

func awaitReady(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	awaitTrue(t, cluster, dbv1.ConditionReady, dbv1.ReasonReady)
}

// kubelet does to the pods of a namespace what a test tells, until the test ends.
func kubelet(t *testing.T, ns string, act func(*corev1.Pod)) {
	t.Helper()
	again(t, func(ctx context.Context) {
		pods := &corev1.PodList{}
		_ = admin.List(ctx, pods, client.InNamespace(ns))
		for i := range pods.Items {
			pod := &pods.Items[i]
			admitted.note(pod)
			before := pod.DeepCopy()
			if act(pod); pod.DeletionTimestamp == nil && !equality.Semantic.DeepEqual(before, pod) {
				_ = admin.Status().Patch(ctx, pod, client.MergeFrom(before))
			}
		}
	})
}

// again does something again and again until the test ends.
func again(t *testing.T, act func(context.Context)) {
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

// healthy makes members ready and hooks succeed.
func healthy(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentHook {
		pod.Status.Phase = corev1.PodSucceeded
		return
	}
	pod.Status.Phase = corev1.PodRunning
	setReady(pod, corev1.ConditionTrue)
}

// unlessHeld leaves members as they are that have the annotation test/hold.
func unlessHeld(pod *corev1.Pod) {
	if pod.Annotations["test/hold"] == "" {
		healthy(pod)
	}
}

// broken makes members with an image wait for it, and the others ready.
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

func awaitGone(t *testing.T, object client.Object) {
	t.Helper()
	eventually(t, object.GetName()+" to be gone", func() error {
		err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if err == nil {
			return fmt.Errorf("it is there, finalizers %v", object.GetFinalizers())
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

// without is a list without an element.
func without(list []string, element string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(e string) bool { return e == element })
}
