//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestTheOperatorOnlyReadsAPausedCluster(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true })
	awaitTrue(t, cluster, dbv1.ConditionPaused, dbv1.ReasonPaused)
	awaitReady(t, cluster) // the operator has no work left

	before, sent := uids(t, cluster), awaitIdleIn(t, cluster.Namespace)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { setSecondImage(c); c.Spec.Replicas = 2 })
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonPaused, "spec.paused is true; pending: update StatefulSet orders")
	awaitTrue(t, cluster, dbv1.ConditionAvailable, dbv1.ReasonAllReplicasReady)
	if cluster.Status.ObservedGeneration == cluster.Generation {
		t.Error("the status claims that the objects express the spec")
	}
	mustNotBeRestarted(t, cluster, before)
	awaitIdleIn(t, cluster.Namespace)
	for _, request := range requests.in(cluster.Namespace, sent) {
		if request != "PATCH databaseclusters/orders/status" {
			t.Errorf("%s although the cluster is paused", request)
		}
	}

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = false })
	awaitReady(t, cluster)
	awaitCondition(t, cluster, dbv1.ConditionPaused, metav1.ConditionFalse, dbv1.ReasonNotPaused)
	mustHaveImage(t, cluster, secondImage)
	if got := uids(t, cluster); len(got) != 2 {
		t.Errorf("members %v, want 2", got)
	}
}

func TestAPausedClusterCanBeDeleted(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true })
	awaitReady(t, cluster)
	remove(t, cluster)
	awaitDeleted(t, cluster)
}

func TestAHibernatedClusterHasNoMembersAndResumesWithItsVolumes(t *testing.T) {
	parallel(t)
	cluster := ready(t, nil)
	kept, stopped := claimUIDs(t, cluster), stopOrder(t, cluster)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	mustBeFromTheHighest(t, stopped())
	awaitTrue(t, cluster, dbv1.ConditionHibernated, dbv1.ReasonHibernated)
	awaitCondition(t, cluster, dbv1.ConditionAvailable, metav1.ConditionFalse, dbv1.ReasonHibernated)
	awaitTrue(t, cluster, dbv1.ConditionReady, dbv1.ReasonHibernated)

	// The operator applies changes from this time when it resumes the cluster.
	change(t, cluster, func(c *dbv1.DatabaseCluster) { setSecondImage(c); c.Spec.Replicas = 4 })
	awaitTrue(t, cluster, dbv1.ConditionReady, dbv1.ReasonHibernated)
	if got := uids(t, cluster); len(got) > 0 {
		t.Errorf("members %v while hibernated", got)
	}

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = false })
	awaitReady(t, cluster)
	awaitCondition(t, cluster, dbv1.ConditionHibernated, metav1.ConditionFalse, dbv1.ReasonRunning)
	mustHaveImage(t, cluster, secondImage)
	now := claimUIDs(t, cluster)
	delete(now, "data-orders-3")
	if !maps.Equal(now, kept) {
		t.Errorf("claims %v, before %v", now, kept)
	}
}

func TestAHibernatedClusterCanBeDeleted(t *testing.T) {
	parallel(t)
	cluster := ready(t, withHook)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	awaitTrue(t, cluster, dbv1.ConditionHibernated, dbv1.ReasonHibernated)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	read(t, hookJob(cluster))
}

func TestVolumesOfAHibernatedClusterGrow(t *testing.T) {
	parallel(t)
	cluster := readyOnVolumes(t)
	driver(t, cluster, "10Gi")
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	awaitTrue(t, cluster, dbv1.ConditionHibernated, dbv1.ReasonHibernated)
	change(t, cluster, growTo("2Gi"))
	awaitTrue(t, cluster, dbv1.ConditionReady, dbv1.ReasonHibernated)
	mustHaveVolumesOf(t, cluster, "2Gi")
}
