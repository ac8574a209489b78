/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// conflictDelay lets the caches catch up with what changed.
const conflictDelay = 200 * time.Millisecond

// act carries a plan out and returns what people should hear of. One object that cannot be written does
// not keep the others from being written, but it keeps members from being disturbed.
func (r *Reconciler) act(ctx context.Context, cluster *dbv1.DatabaseCluster, observed state.Observed, todo plan.Plan) ([]happening, error) {
	if todo.AddFinalizer {
		if err := r.addFinalizer(ctx, cluster); err != nil {
			return nil, err
		}
	}
	var errs []error
	for _, write := range todo.Apply {
		logf.FromContext(ctx).Info("applying", "write", write.String())
		errs = append(errs, r.write(ctx, write))
	}
	if err := errors.Join(errs...); err != nil || todo.Step == nil {
		return nil, err
	}
	logf.FromContext(ctx).Info("taking a step", "step", todo.Step.String(), "reason", todo.Why)
	return r.take(ctx, cluster, observed, todo)
}

// +kubebuilder:rbac:groups="",resources=services,verbs=create;patch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=create;patch
// +kubebuilder:rbac:groups=policy,resources=poddisruptionbudgets,verbs=create;patch

func (r *Reconciler) write(ctx context.Context, write plan.Write) error {
	stored, err := r.store(ctx, write)
	if err != nil || !write.Sealed() {
		return err
	}
	return r.seal(ctx, stored)
}

func (r *Reconciler) store(ctx context.Context, write plan.Write) (*unstructured.Unstructured, error) {
	if write.UID == "" {
		return r.Writer.Create(ctx, write.Object)
	}
	version := write.Version
	if len(write.Eviction) > 0 {
		var err error
		if version, err = r.Writer.Patch(ctx, write.Object, version, write.Eviction); err != nil {
			return nil, err
		}
	}
	return r.Writer.Update(ctx, write.Object, write.UID, version)
}

// seal notes what the API server made of a write. When a crash keeps it from that, the next pass writes
// the same again.
func (r *Reconciler) seal(ctx context.Context, stored *unstructured.Unstructured) error {
	set := &appsv1.StatefulSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(stored.Object, set); err != nil {
		return fmt.Errorf("read StatefulSet %s as it was stored: %w", stored.GetName(), err)
	}
	return r.Writer.Annotate(ctx, stored, dbv1.AnnotationSealed, resources.Seal(set))
}

// take takes the one disruptive step of a plan.
func (r *Reconciler) take(ctx context.Context, cluster *dbv1.DatabaseCluster, observed state.Observed, todo plan.Plan) ([]happening, error) {
	switch step := todo.Step.(type) {
	case plan.RestartMember:
		return r.restart(ctx, cluster, step, todo.Why)
	case plan.Scale:
		return r.scale(ctx, observed, step)
	case plan.RunHook:
		return r.runHook(ctx, step)
	case plan.Finalize:
		return nil, r.finalize(ctx, cluster)
	default:
		return nil, fmt.Errorf("no way to take step %T", step)
	}
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=delete

func (r *Reconciler) restart(ctx context.Context, cluster *dbv1.DatabaseCluster, step plan.RestartMember, why string) ([]happening, error) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: step.Member.Name, UID: step.Member.UID, ResourceVersion: step.Member.Version,
	}}
	if err := r.Writer.Delete(ctx, pod); err != nil {
		return nil, err
	}
	return []happening{normal("MemberRestarted", "Restart", why)}, nil
}

func (r *Reconciler) scale(ctx context.Context, observed state.Observed, step plan.Scale) ([]happening, error) {
	lowered := observed.StatefulSet.DeepCopy()
	lowered.Spec.Replicas = &step.To
	if step.Stop {
		metav1.SetMetaDataAnnotation(&lowered.ObjectMeta, dbv1.AnnotationStopping, "true")
	}
	if err := r.Writer.Change(ctx, observed.StatefulSet, lowered); err != nil {
		return nil, err
	}
	return []happening{normal("MemberStopped", "ScaleIn", fmt.Sprintf("stopping pod %s-%d", lowered.Name, step.To))}, nil
}

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create;patch

func (r *Reconciler) runHook(ctx context.Context, step plan.RunHook) ([]happening, error) {
	if _, err := r.Writer.Create(ctx, step.Job.Object); err != nil {
		return nil, err
	}
	return []happening{normal("HookStarted", "RunHook", fmt.Sprintf("deletion hook %q runs as Job %s", step.Hook, step.Job.Name()))}, nil
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters/finalizers,verbs=update

func (r *Reconciler) addFinalizer(ctx context.Context, cluster *dbv1.DatabaseCluster) error {
	before := cluster.DeepCopy()
	controllerutil.AddFinalizer(cluster, dbv1.Finalizer)
	return r.Writer.Change(ctx, before, cluster)
}

func (r *Reconciler) finalize(ctx context.Context, cluster *dbv1.DatabaseCluster) error {
	before := cluster.DeepCopy()
	controllerutil.RemoveFinalizer(cluster, dbv1.Finalizer)
	return r.Writer.Change(ctx, before, cluster)
}
