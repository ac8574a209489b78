/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Controller declares the changes that start a pass for a cluster.
func (r *Reconciler) Controller() kit.Controller {
	var nodes []kit.Watch
	if r.Nodes {
		nodes = []kit.Watch{{Object: &corev1.Node{}, When: kit.Changed(leavingFacts), MapFunc: r.clustersOn}}
	}
	return kit.Controller{
		Name: "databasecluster", For: &dbv1.DatabaseCluster{}, When: predicate.And(r.Relevant(), kit.Filter(state.ClusterFacts)),
		Delay: creationDelay, Indexes: indexes, Signals: r.Measured,
		Watches: append([]kit.Watch{
			{Object: &corev1.Service{}, When: kit.Filter(state.ServiceFacts), Delay: subject.RepairDelay},
			{Object: &policyv1.PodDisruptionBudget{}, When: kit.Filter(state.PodDisruptionBudgetFacts), MapFunc: r.clustersOfBudget,
				Delay: subject.RepairDelay},
			{Object: &appsv1.StatefulSet{}, When: kit.Filter(setFacts), Delay: burstDelay},
			{Object: &corev1.ConfigMap{}, When: kit.Filter(state.ConfigMapFacts), MapFunc: clusterOf, Delay: subject.RepairDelay},
			{Object: &corev1.Pod{}, When: kit.Changed(podFacts), MapFunc: clusterOf, Delay: burstDelay},
			{Object: &corev1.PersistentVolumeClaim{}, When: kit.Changed(claimFacts), MapFunc: clusterOf, Delay: burstDelay},
			{Object: &batchv1.Job{}, When: kit.Changed(jobFacts), MapFunc: clusterOf, Delay: burstDelay},
			{Object: &dbv1.DatabaseBackup{}, When: kit.Changed(backupFacts), MapFunc: clusterIn(backedUp), Delay: burstDelay},
			{Object: &dbv1.DatabaseRestore{}, When: kit.Changed(replacementFacts), MapFunc: clusterIn(restored)},
		}, append(plan.Watches().Objects, nodes...)...),
	}
}

// clusterOf finds the cluster of an object without an owner reference by the operator's label.
func clusterOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[dbv1.LabelInstance]
	if name == "" || kit.OfAnotherKind(object) && !state.MountsMember(volumesOf(object), name) {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}

// volumesOf are the volumes of a pod, or of a Job's pods. While a pod mounts a member's volume, no other pod may
// use it.
func volumesOf(object client.Object) []corev1.Volume {
	switch o := object.(type) {
	case *corev1.Pod:
		return o.Spec.Volumes
	case *batchv1.Job:
		return o.Spec.Template.Spec.Volumes
	default:
		return nil
	}
}

// clusterIn finds the cluster that an object of a user names.
func clusterIn(names func(client.Object) []string) func(context.Context, client.Object) []reconcile.Request {
	return func(_ context.Context, object client.Object) []reconcile.Request {
		var requests []reconcile.Request
		for _, name := range names(object) {
			requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}})
		}
		return requests
	}
}

// backedUp is the name of the cluster of a DatabaseBackup, which a user may have created.
func backedUp(object client.Object) []string {
	if backup, ok := object.(*dbv1.DatabaseBackup); ok {
		return []string{backup.Spec.Cluster}
	}
	return nil
}

// backupFacts are those of state.Backup and state.HookBackup, the owner, and the location, by which a new cluster
// may name it.
func backupFacts(backup *dbv1.DatabaseBackup) any {
	return []any{state.BackupOf(backup).Facts(), state.HookBackupOf(backup), backup.Spec.Cluster, backup.Status.Location}
}

// podFacts are those of a member and of a Job's pod. They leave out the ordinal: it is part of the name, which
// never changes.
func podFacts(pod *corev1.Pod) any {
	return []any{state.MemberOf(pod, 0).Facts(), jobs.AttemptOf(pod), state.BystanderOf(pod).Facts(), pod.Labels}
}

// setFacts leave out the spec of a StatefulSet, which is large: its generation counts the changes.
func setFacts(set *appsv1.StatefulSet) *appsv1.StatefulSet {
	facts := state.StatefulSetFacts(set)
	facts.Spec = appsv1.StatefulSetSpec{}
	return facts
}

func claimFacts(claim *corev1.PersistentVolumeClaim) any {
	return []any{state.VolumeOf(claim, 0).Facts(), claim.Labels}
}

func jobFacts(job *batchv1.Job) any {
	return []any{jobs.Of(job, nil).Facts(), job.Labels}
}
