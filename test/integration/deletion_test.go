//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

func withHook(c *dbv1.DatabaseCluster) {
	c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "flush", Type: dbv1.HookCommand, Command: []string{"flush"}}}
}

func hookJob(cluster *dbv1.DatabaseCluster) *batchv1.Job {
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: naming.HookJob(cluster.Name, "flush", cluster.UID),
	}}
}

func members(t *testing.T, cluster *dbv1.DatabaseCluster) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(uids(t, cluster)))
}

func TestADeletionRunsTheHookThenStopsMembersInOrderAndRetainsTheVolumes(t *testing.T) {
	parallel(t)
	finish := make(chan struct{})
	cluster := started(t, withHook, untilFinished(finish))
	remove(t, cluster)

	awaitCondition(t, cluster, dbv1.ConditionDeletionBlocked, metav1.ConditionFalse, dbv1.ReasonHookRunning)
	if got := members(t, cluster); len(got) != 3 {
		t.Errorf("members %v while the hook runs, want all three", got)
	}
	job := read(t, hookJob(cluster))
	if env := job.Spec.Template.Spec.Containers[0].Env; env[len(env)-1].Value != "orders-0.orders-headless orders-1.orders-headless orders-2.orders-headless" {
		t.Errorf("%+v", env)
	}

	order := stopOrder(t, cluster)
	close(finish)
	awaitDeleted(t, cluster)
	mustBeFromTheHighest(t, order())
	awaitDeleted(t, statefulSet(cluster))
	awaitDeleted(t, service(cluster))
	mustHaveClaims(t, cluster, 3)
	read(t, hookJob(cluster)) // retained, with its logs
}

// stopOrder watches the members stop. Its result waits until all are deleted and returns their order.
func stopOrder(t *testing.T, cluster *dbv1.DatabaseCluster) func() []string {
	t.Helper()
	events, err := admin.Watch(t.Context(), &corev1.PodList{}, client.InNamespace(cluster.Namespace), client.MatchingLabels(naming.Selector(cluster.Name)))
	if err != nil {
		t.Fatal(err)
	}
	return func() []string {
		defer events.Stop()
		var deleted []string
		for event := range events.ResultChan() {
			if event.Type == watch.Deleted {
				deleted = append(deleted, event.Object.(*corev1.Pod).Name)
			}
			if len(deleted) == int(cluster.Spec.Replicas) {
				break
			}
		}
		return deleted
	}
}

func TestAFailedHookBlocksTheDeletionAndReportsTheRemedy(t *testing.T) {
	parallel(t)
	cluster := started(t, func(c *dbv1.DatabaseCluster) { withHook(c); c.Spec.Deletion.HookDeadlineSeconds = 1 }, func(pod *corev1.Pod) {
		if pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase {
			healthy(pod)
		}
	})
	remove(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonHookFailed,
		`deletion hook "flush" failed`, "deadline", "delete the Job", dbv1.AnnotationSkipDeletionHooks)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonHookFailed)
	if got := members(t, cluster); len(got) != 3 {
		t.Errorf("members %v while the deletion is blocked, want all three", got)
	}

	failed := read(t, hookJob(cluster))
	remove(t, failed, client.PropagationPolicy(metav1.DeletePropagationBackground))
	again := hookJob(cluster)
	await(t, again, "the hook to run again", func() bool { return again.UID != failed.UID })

	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Annotations = map[string]string{dbv1.AnnotationSkipDeletionHooks: "true"}
	})
	awaitDeleted(t, cluster)
}

func TestAFailedHookDoesNotBlockIfTheSpecSaysContinue(t *testing.T) {
	parallel(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) {
		withHook(c)
		c.Spec.Deletion.HookDeadlineSeconds, c.Spec.Deletion.HookFailurePolicy = 1, dbv1.HookFailureContinue
	})
	awaitCondition(t, cluster, dbv1.ConditionAvailable, metav1.ConditionFalse, dbv1.ReasonReplicasNotReady)
	remove(t, cluster) // no member has run
	awaitDeleted(t, cluster)
}

func TestALaterClusterOfTheSameNameRunsItsOwnHook(t *testing.T) {
	parallel(t)
	cluster := started(t, withHook, healthy)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	first := read(t, hookJob(cluster))

	again := smallest(cluster.Namespace, cluster.Name)
	withHook(again)
	create(t, again)
	awaitReady(t, again)
	remove(t, again)
	awaitDeleted(t, again)
	second := read(t, hookJob(again))
	if first.Name == second.Name {
		t.Errorf("both hooks ran as Job %s: the second cluster was deleted without its hook", first.Name)
	}
}

func TestADeletedNamespaceDeletesItsCluster(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	ns := deleteNamespace(t, cluster.Namespace)
	awaitDeleted(t, ns)
}
