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
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const silent = int32(-1)

// node is a kubelet that runs members and reports the exit code of each database. A silent node reports nothing.
type node struct {
	sync.Mutex
	codes map[string]int32
}

func (n *node) code(pod string) int32 {
	n.Lock()
	defer n.Unlock()
	return n.codes[pod]
}

func (n *node) setCode(pod string, code int32) {
	n.Lock()
	defer n.Unlock()
	n.codes[pod] = code
}

func startNode(t *testing.T, ns string) *node {
	t.Helper()
	n := &node{codes: map[string]int32{}}
	machine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	createFor(t, machine)
	repeat(t, func(ctx context.Context) {
		pods := &corev1.PodList{}
		_ = admin.List(ctx, pods, client.InNamespace(ns))
		for i := range pods.Items {
			n.run(ctx, &pods.Items[i])
		}
	})
	return n
}

func (n *node) run(ctx context.Context, pod *corev1.Pod) {
	before := pod.DeepCopy()
	switch {
	case pod.Spec.NodeName == "":
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: pod.Namespace}}
		_ = admin.SubResource("binding").Create(ctx, pod, binding)
		return
	case pod.DeletionTimestamp == nil:
		healthy(pod)
	case n.code(pod.Name) == silent:
		return
	default:
		n.stop(pod)
	}
	if admin.Status().Patch(ctx, pod, client.MergeFrom(before)) == nil && before.DeletionTimestamp != nil {
		_ = admin.Delete(ctx, pod, client.GracePeriodSeconds(0))
	}
}

func (n *node) stop(pod *corev1.Pod) {
	code := n.code(pod.Name)
	pod.Status.Phase = corev1.PodSucceeded
	if code != 0 {
		pod.Status.Phase = corev1.PodFailed
	}
	ended := &corev1.ContainerStateTerminated{ExitCode: code, ContainerID: "test://" + pod.Name}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "database", Image: pod.Spec.Containers[0].Image, ContainerID: ended.ContainerID, State: corev1.ContainerState{Terminated: ended},
	}}
}

func withShutdown(c *dbv1.DatabaseCluster) {
	c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "stop", Type: dbv1.HookShutdown}}
	c.Spec.Deletion.Volumes = dbv1.VolumesDelete
}

// onNode creates a cluster whose members run on a node, and waits until it is ready.
func onNode(t *testing.T, change func(*dbv1.DatabaseCluster)) (*dbv1.DatabaseCluster, *node) {
	t.Helper()
	cluster := created(t, change)
	machine := startNode(t, cluster.Namespace)
	awaitReady(t, cluster)
	return cluster, machine
}

// endings records from the status how the members end, until the cluster is deleted.
func endings(t *testing.T, cluster *dbv1.DatabaseCluster) func() string {
	t.Helper()
	events, err := admin.Watch(t.Context(), &dbv1.DatabaseClusterList{}, client.InNamespace(cluster.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	return func() string {
		defer events.Stop()
		for event := range events.ResultChan() {
			if event.Type == watch.Deleted {
				return endingsOf(event.Object.(*dbv1.DatabaseCluster))
			}
		}
		return ""
	}
}

func endingsOf(cluster *dbv1.DatabaseCluster) string {
	var all []string
	for _, hook := range cluster.Status.Hooks {
		for _, s := range hook.Stopped {
			code := "?"
			if s.ExitCode != nil {
				code = fmt.Sprint(*s.ExitCode)
			}
			all = append(all, s.Pod+"="+code)
		}
	}
	return strings.Join(all, " ")
}

func TestAShutdownIsRecordedForEachMemberBeforeTheVolumesAreDeleted(t *testing.T) {
	parallel(t)
	cluster, _ := onNode(t, withShutdown)
	order, ended := stopOrder(t, cluster), endings(t, cluster)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	if got := ended(); got != "orders-2=0 orders-1=0 orders-0=0" {
		t.Errorf("recorded %q", got)
	}
	mustBeFromTheHighest(t, order())
	mustHaveClaims(t, cluster, 0)
}

func TestAKilledMemberBlocksTheDeletionAndRetainsTheVolumes(t *testing.T) {
	parallel(t)
	cluster, machine := onNode(t, withShutdown)
	machine.setCode("orders-2", 137)
	remove(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonHookFailed,
		"pod orders-2 exited with code 137", "killed", dbv1.AnnotationSkipDeletionHooks)
	eventually(t, "the pod to be deleted", func() error {
		got := members(t, cluster)
		return errorIf(!slices.Equal(got, []string{"orders-0", "orders-1"}), "members %v", got)
	})
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, dbv1.AnnotationSkipDeletionHooks, "true")
	})
	awaitDeleted(t, cluster)
	mustHaveClaims(t, cluster, 3)
	awaitReasons(t, cluster, "HooksSkipped", "VolumesRetained")
}

func TestALostNodeBlocksTheDeletionUntilItReportsTheExitCode(t *testing.T) {
	parallel(t)
	cluster, machine := onNode(t, func(c *dbv1.DatabaseCluster) {
		withShutdown(c)
		c.Spec.Deletion.HookDeadlineSeconds, c.Spec.Pod.TerminationGracePeriodSeconds = 1, new(int64(1))
	})
	machine.setCode("orders-2", silent)
	ended := endings(t, cluster)
	remove(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonHookFailed, "the exit code of the database in pod orders-2 is unknown")
	machine.setCode("orders-2", 0)
	awaitDeleted(t, cluster)
	if got := ended(); got != "orders-2=0 orders-1=0 orders-0=0" {
		t.Errorf("recorded %q", got)
	}
}

func TestALostNodeDoesNotBlockIfTheSpecSaysContinue(t *testing.T) {
	parallel(t)
	cluster, machine := onNode(t, func(c *dbv1.DatabaseCluster) {
		withShutdown(c)
		c.Spec.Deletion.HookDeadlineSeconds, c.Spec.Pod.TerminationGracePeriodSeconds = 1, new(int64(1))
		c.Spec.Deletion.HookFailurePolicy = dbv1.HookFailureContinue
	})
	machine.setCode("orders-2", silent)
	ended := endings(t, cluster)
	remove(t, cluster)
	lost := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "orders-2"}}
	await(t, lost, "the finalizer of the pod to be removed", func() bool {
		return lost.DeletionTimestamp != nil && !slices.Contains(lost.Finalizers, dbv1.Finalizer) && endingsOf(read(t, cluster)) != ""
	})
	// For Kubernetes, the pod on a lost node still exists; the user must force its deletion.
	remove(t, lost, client.GracePeriodSeconds(0))
	awaitDeleted(t, cluster)
	if got := ended(); got != "orders-2=? orders-1=0 orders-0=0" {
		t.Errorf("recorded %q", got)
	}
	mustHaveClaims(t, cluster, 3)
	awaitReasons(t, cluster, "ExitCodeUnknown", "HookFailed", "VolumesRetained")
}

func TestAForegroundDeletionReportsItsPodsAndIsNotBlocked(t *testing.T) {
	parallel(t)
	cluster, _ := onNode(t, func(c *dbv1.DatabaseCluster) {
		withShutdown(c)
		c.Spec.Deletion.Volumes = dbv1.VolumesRetain
		withHook(c)
		c.Spec.Deletion.Hooks = append(c.Spec.Deletion.Hooks, dbv1.DeletionHook{Name: "stop", Type: dbv1.HookShutdown})
	})
	ended := endings(t, cluster)
	remove(t, cluster, client.PropagationPolicy(metav1.DeletePropagationForeground))
	awaitDeleted(t, cluster)
	if got := ended(); strings.Count(got, "=") != 3 { // the exit codes depend on timing
		t.Errorf("recorded %q, want all three members", got)
	}
	read(t, hookJob(cluster)) // it ran nevertheless
	mustHaveClaims(t, cluster, 3)
}

func TestAManuallyRemovedFinalizerAlsoFreesThePods(t *testing.T) {
	parallel(t)
	cluster, machine := onNode(t, withShutdown)
	machine.setCode("orders-2", silent)
	remove(t, cluster)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "orders-2"}}
	await(t, pod, "the pod to have the finalizer and to stop", func() bool {
		return pod.DeletionTimestamp != nil && slices.Contains(pod.Finalizers, dbv1.Finalizer)
	})
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Finalizers = nil })
	awaitDeleted(t, cluster)
	machine.setCode("orders-2", 0)
	awaitDeleted(t, pod)
}
