/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	libpredicate "github.com/operator-framework/operator-lib/predicate"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// SetupWithManager wires the watches and the index of the cache.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager, options controller.Options) error {
	if err := index(ctx, mgr.GetFieldIndexer()); err != nil {
		return err
	}
	r.indexed = true
	toCluster := handler.EnqueueRequestsFromMapFunc(clusterOf)
	return ctrl.NewControllerManagedBy(mgr).
		Named("databasecluster").
		For(&dbv1.DatabaseCluster{}, builder.WithPredicates(filter(state.ClusterFacts))).
		Owns(&corev1.Service{}, builder.WithPredicates(filter(state.ServiceFacts))).
		Owns(&policyv1.PodDisruptionBudget{}, builder.WithPredicates(filter(state.PodDisruptionBudgetFacts))).
		Owns(&appsv1.StatefulSet{}, builder.WithPredicates(filter(state.StatefulSetFacts))).
		Watches(&corev1.Pod{}, toCluster, builder.WithPredicates(changed(podFacts))).
		Owns(&corev1.ConfigMap{}, builder.WithPredicates(filter(state.ConfigMapFacts))).
		Watches(&corev1.PersistentVolumeClaim{}, toCluster, builder.WithPredicates(changed(claimFacts))).
		Watches(&dbv1.DatabaseBackup{}, handler.EnqueueRequestsFromMapFunc(clusterOfBackup), builder.WithPredicates(changed(backupFacts))).
		Watches(&batchv1.Job{}, toCluster, builder.WithPredicates(changed(jobFacts))).
		WithOptions(options).
		Complete(r)
}

// filter lets an update through when the spec changed: told by the generation, or by any update where
// the kind has none, as Service. Alone that would hide what the operator reads besides the spec, so an
// update also passes when the facts changed.
func filter[T client.Object](facts func(T) T) predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, libpredicate.NoGenerationPredicate{},
		changed(func(object T) any {
			seen := facts(object)
			seen.SetResourceVersion("")
			return seen
		}))
}

// changed lets an update through when what the operator reads of the object changed. Creations and
// deletions always pass.
func changed[T client.Object](facts func(T) any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(T)
		after, alsoOK := e.ObjectNew.(T)
		return !ok || !alsoOK || !equality.Semantic.DeepEqual(facts(before), facts(after))
	}}
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
