//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// running makes members ready with containers that the kubelet can resize.
func running(pod *corev1.Pod) {
	healthy(pod)
	pod.Status.ObservedGeneration = pod.Generation
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "database", Ready: true, Started: new(true), Image: pod.Spec.Containers[0].Image, ImageID: "x", ContainerID: "x://1",
		State:     corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		Resources: pod.Spec.Containers[0].Resources.DeepCopy(),
	}}
}

// reportResize makes the kubelet report a resize condition, without a change of the container's resources. An empty
// reason removes the condition.
func reportResize(pod *corev1.Pod, reason, message string) {
	pod.Status.Conditions = slices.DeleteFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
	if reason != "" {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodResizePending, Status: corev1.ConditionTrue, Reason: reason, Message: message,
		})
		pod.Status.ContainerStatuses[0].Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
	}
}

func requestMemory(quantity string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(quantity)}}
	}
}

func memoryOf(pod *corev1.Pod) string {
	quantity := pod.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory]
	return quantity.String()
}

func awaitMemory(t *testing.T, cluster *dbv1.DatabaseCluster, ordinal int, want string) {
	t.Helper()
	pod := member(cluster, ordinal)
	await(t, pod, pod.Name+" to request "+want, func() bool { return memoryOf(pod) == want })
}

func readyRunning(t *testing.T, act func(*corev1.Pod)) *dbv1.DatabaseCluster {
	t.Helper()
	return started(t, atOnce, func(pod *corev1.Pod) {
		running(pod)
		if act != nil {
			act(pod)
		}
	})
}

func TestRunningMembersAreResized(t *testing.T) {
	parallel(t)
	cluster := readyRunning(t, nil)
	before := uids(t, cluster)
	for _, memory := range []string{"128Mi", "32Mi"} {
		change(t, cluster, requestMemory(memory))
		awaitReady(t, cluster)
		for ordinal := range 3 {
			if got := memoryOf(read(t, member(cluster, ordinal))); got != memory {
				t.Errorf("orders-%d requests %s, want %s", ordinal, got, memory)
			}
		}
		mustNotBeRestarted(t, cluster, before)
		if s := cluster.Status; s.UpdatedReplicas != 3 || s.Members[0].Outdated {
			t.Errorf("%+v", s)
		}
	}
	awaitConverged(t, cluster)
	mustNotBeRestarted(t, cluster, before)

	// The next change of another field restarts each member once, with these resources.
	change(t, cluster, setSecondImage)
	awaitRestarted(t, cluster, before)
	mustHaveImage(t, cluster, secondImage)
}

func TestADeferredResizeBlocksTheNextMember(t *testing.T) {
	parallel(t)
	cluster := readyRunning(t, func(pod *corev1.Pod) {
		if memoryOf(pod) == "128Mi" && pod.Annotations["test/resized"] == "" {
			reportResize(pod, corev1.PodReasonDeferred, "the node is full")
		} else {
			reportResize(pod, "", "")
		}
	})
	before := uids(t, cluster)
	change(t, cluster, requestMemory("128Mi"))
	for ordinal := 2; ordinal >= 0; ordinal-- {
		awaitMemory(t, cluster, ordinal, "128Mi")
		await(t, cluster, "the operator to wait for the resize", func() bool {
			c := meta.FindStatusCondition(cluster.Status.Conditions, dbv1.ConditionProgressing)
			return c != nil && c.Status == metav1.ConditionTrue && containsAll(c.Message, fmt.Sprintf("orders-%d", ordinal), "the node is full")
		})
		for later := range ordinal {
			if got := memoryOf(read(t, member(cluster, later))); got != "64Mi" {
				t.Errorf("orders-%d requests %s before orders-%d was resized", later, got, ordinal)
			}
		}
		change(t, member(cluster, ordinal), func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, "test/resized", "true") })
	}
	awaitReady(t, cluster)
	mustNotBeRestarted(t, cluster, before)
}

func TestAnInfeasibleResizeRestartsTheMember(t *testing.T) {
	parallel(t)
	cluster := readyRunning(t, func(pod *corev1.Pod) {
		if memoryOf(pod) == "128Mi" && pod.Labels["controller-revision-hash"] == pod.Annotations["test/first"] {
			reportResize(pod, corev1.PodReasonInfeasible, "the node is too small")
		}
	})
	for ordinal := range 3 {
		change(t, member(cluster, ordinal), func(p *corev1.Pod) {
			metav1.SetMetaDataAnnotation(&p.ObjectMeta, "test/first", p.Labels["controller-revision-hash"])
		})
	}
	before, stopped := uids(t, cluster), stops(t, cluster)
	change(t, cluster, requestMemory("128Mi"))
	mustBeFromTheHighest(t, stopped(3))
	awaitRestarted(t, cluster, before)
}

func TestAResizeThatTheAPIServerRefusesRestartsTheMember(t *testing.T) {
	parallel(t)
	cluster := readyRunning(t, nil)
	before, stopped := uids(t, cluster), stops(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { // Guaranteed instead of Burstable
		list := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi"), corev1.ResourceCPU: resource.MustParse("100m")}
		c.Spec.Resources = corev1.ResourceRequirements{Requests: list, Limits: list}
	})
	mustBeFromTheHighest(t, stopped(3))
	awaitRestarted(t, cluster, before)
	if got := read(t, member(cluster, 0)).Status.QOSClass; got != corev1.PodQOSGuaranteed {
		t.Error(got)
	}
}
