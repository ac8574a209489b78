//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// noPrimary is no ordinal of a member.
const noPrimary = 9

// relatedSafe is a cluster of three members with one database and a final backup.
func relatedSafe(t *testing.T, ns string) *dbv1.DatabaseCluster {
	t.Helper()
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine = replicated(t, func(e *dbv1.DatabaseEngineSpec) {
		e.Actions.Backup, e.Actions.Restore = &dbv1.EngineAction{Command: []string{"backup"}}, &dbv1.EngineAction{Command: []string{"restore"}}
	})
	cluster.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "s3://backups/prod", Endpoint: "http://s3.example.test:7070", CredentialsSecretName: "bucket"}}
	cluster.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "final", Type: dbv1.HookBackup}}
	return cluster
}

func awaitRecord(t *testing.T, cluster *dbv1.DatabaseCluster, primary string) {
	t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: naming.ClaimIn(naming.DataVolume, cluster.Name, 0)}}
	await(t, claim, "the record of "+primary, func() bool { return claim.Annotations[dbv1.AnnotationPrimary] == primary })
}

// awaitAlone waits until one member starts before the others.
func awaitAlone(t *testing.T, cluster *dbv1.DatabaseCluster, ordinal int32) *appsv1.StatefulSet {
	t.Helper()
	set := statefulSet(cluster)
	await(t, set, "one member alone", func() bool {
		return set.Spec.Ordinals != nil && set.Spec.Ordinals.Start == ordinal && *set.Spec.Replicas == 1 && set.Status.ReadyReplicas == 1
	})
	if got := members(t, cluster); !slices.Equal(got, []string{naming.Member(cluster.Name, ordinal)}) {
		t.Errorf("the members %v start first", got)
	}
	return set
}

// deleteAtOnce deletes a cluster whose members stop at once: no member is ready, so none hands over, and no Job reads from one.
func (e *elector) deleteAtOnce(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	e.down.Store(true)
	await(t, cluster, "members that are down", func() bool { return cluster.Status.ReadyReplicas == 0 })
	remove(t, cluster, client.PropagationPolicy(metav1.DeletePropagationForeground))
	awaitDeleted(t, cluster)
	e.down.Store(false)
}

// The garbage collector stops all members of a foreground deletion at once, so the primary hands over to none.
func TestTheLastPrimaryIsBackedUpAndStartsFirst(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	elector := startElector(t, ns)
	create(t, keys(ns, "bucket"))
	cluster := relatedSafe(t, ns)
	create(t, cluster)
	awaitReady(t, cluster)
	awaitRecord(t, cluster, "orders-0")
	elector.primary.Store(2)
	awaitRecord(t, cluster, "orders-2")

	elector.deleteAtOnce(t, cluster)
	final := listed(t, ns, &batchv1.JobList{}, client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentBackup}).Items
	if len(final) != 1 {
		t.Fatalf("%d Jobs of the final backup", len(final))
	}
	if !slices.ContainsFunc(final[0].Spec.Template.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "data-orders-2"
	}) {
		t.Errorf("the final backup reads %+v", final[0].Spec.Template.Spec.Volumes)
	}

	elector.primary.Store(noPrimary)
	next := relatedSafe(t, ns)
	next.Spec.Engine = cluster.Spec.Engine
	create(t, next)
	set := awaitAlone(t, next, 2)
	awaitTrue(t, next, dbv1.ConditionProgressing, dbv1.ReasonWaitingForMembers, "pod orders-2 starts before the others, because it was the last primary")
	first := read(t, member(next, 2)).UID
	elector.primary.Store(2)
	awaitReady(t, next)
	read(t, set)
	if got := read(t, member(next, 2)).UID; got != first || set.Spec.Ordinals.Start != 0 || *set.Spec.Replicas != 3 {
		t.Errorf("the members begin with %+v, and the pod %s of the first is %s now", set.Spec.Ordinals, first, got)
	}

	change(t, next, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	await(t, set, "the primary to be the only member", func() bool { return set.Spec.Ordinals.Start == 2 && *set.Spec.Replicas == 1 })
	await(t, set, "all members to stop", func() bool {
		return *set.Spec.Replicas == 0 && set.Spec.Ordinals.Start == 0 && set.Status.Replicas == 0
	})
	awaitRecord(t, next, "orders-2")
	_, _, leader := rightsOf(ns)
	read(t, leader)
	elector.primary.Store(noPrimary)
	change(t, leader, func(c *corev1.ConfigMap) { c.Annotations["leader"] = "orders-1" }) // as after a failover that the operator did not see
	change(t, next, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = false })
	awaitAlone(t, next, 1)
	elector.primary.Store(1)
	awaitReady(t, next)
	if got := members(t, next); len(got) != 3 {
		t.Errorf("the members are %v", got)
	}
}

// A smaller cluster starts with the member that has the data, and removes it after it has handed over.
func TestTheLastPrimaryHandsOverIfASmallerClusterDoesNotNeedIt(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	elector := startElector(t, ns)
	cluster := smallest(ns, "orders")
	cluster.Spec.Engine = replicated(t, nil)
	create(t, cluster)
	awaitReady(t, cluster)
	elector.primary.Store(2)
	awaitRecord(t, cluster, "orders-2")
	elector.deleteAtOnce(t, cluster)

	elector.primary.Store(noPrimary)
	next := smallest(ns, "orders")
	next.Spec.Engine, next.Spec.Replicas = cluster.Spec.Engine, 1
	create(t, next)
	awaitAlone(t, next, 2)
	elector.primary.Store(2)
	awaitRecord(t, next, "orders-0")
	awaitReady(t, next)
	if got := members(t, next); !slices.Equal(got, []string{"orders-0"}) {
		t.Errorf("the members are %v", got)
	}
	mustHaveClaims(t, next, 3)
}
