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
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// SetupWithManager wires the watches and the index of the cache.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	if err := kit.AddIndexes(ctx, mgr.GetFieldIndexer(), indexes); err != nil {
		return err
	}
	r.Indexed = true
	toCluster := handler.EnqueueRequestsFromMapFunc(clusterOf)
	return ctrl.NewControllerManagedBy(mgr).
		Named("databasecluster").
		For(&dbv1.DatabaseCluster{}, builder.WithPredicates(kit.Filter(state.ClusterFacts))).
		Owns(&corev1.Service{}, builder.WithPredicates(kit.Filter(state.ServiceFacts))).
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(kit.Filter(state.PodDisruptionBudgetFacts))).
		Owns(&appsv1.StatefulSet{}, builder.WithPredicates(kit.Filter(state.StatefulSetFacts))).
		Watches(&corev1.Pod{}, toCluster, builder.WithPredicates(kit.Changed(podFacts))).
		Owns(&corev1.ConfigMap{}, builder.WithPredicates(kit.Filter(state.ConfigMapFacts))).
		Watches(&corev1.PersistentVolumeClaim{}, toCluster, builder.WithPredicates(kit.Changed(claimFacts))).
		Watches(&dbv1.DatabaseBackup{}, handler.EnqueueRequestsFromMapFunc(clusterOfBackup), builder.WithPredicates(kit.Changed(backupFacts))).
		Watches(&batchv1.Job{}, toCluster, builder.WithPredicates(kit.Changed(jobFacts))).
		WithOptions(options).
		Complete(r)
}

// clusterOf finds the cluster of an object that it does not own by the label that the operator gave.
func clusterOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[dbv1.LabelInstance]
	if name == "" || object.GetLabels()[dbv1.LabelBackupUID] != "" && !state.MountsMember(volumesOf(object), name) {
		return nil // what is a DatabaseBackup's own, its own controller looks at
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}

// volumesOf are those of a pod, or of the pods of a Job: while one has the volume of a member, nobody else can.
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

// podFacts are those of a member and of a Job's pod. They leave the ordinal out: it is part of the name, which never
// changes.
func podFacts(pod *corev1.Pod) any {
	return []any{state.MemberOf(pod, 0).Facts(), state.TryOf(pod), state.BystanderOf(pod).Facts(), pod.Labels}
}

func claimFacts(claim *corev1.PersistentVolumeClaim) any {
	return []any{state.VolumeOf(claim, 0).Facts(), claim.Labels}
}

func jobFacts(job *batchv1.Job) any {
	return []any{state.TaskOf(job, nil).Facts(), job.Labels}
}
