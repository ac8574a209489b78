/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// take takes the one disruptive step of a plan.
func (r *Reconciler) take(ctx context.Context, cluster *dbv1.DatabaseCluster, observed state.Observed, todo plan.Plan) ([]happening, error) {
	switch step := todo.Step.(type) {
	case plan.RestartMember:
		return r.deletePod(ctx, cluster, step.Member, normal("MemberRestarted", "Restart", todo.Why))
	case plan.StopMember:
		return r.deletePod(ctx, cluster, step.Member, normal("MemberStopped", "Stop", todo.Why))
	case plan.ResizeMember:
		return r.resize(ctx, cluster, step, todo.Why)
	case plan.RecreateStatefulSet:
		return r.recreate(ctx, observed, todo.Why)
	case plan.Scale:
		return r.scale(ctx, cluster, observed, step)
	case plan.RunHook:
		return r.runHook(ctx, step)
	case plan.MakeVolumes, plan.StartRestore, plan.FinishRestore:
		return r.takeRestore(ctx, cluster, step)
	case plan.HoldMember:
		return nil, r.hold(ctx, cluster, step.Member)
	case plan.Finalize:
		return r.finalize(ctx, cluster, step)
	default:
		return nil, fmt.Errorf("no way to take step %T", step)
	}
}

// takeRestore takes a step of a restore.
func (r *Reconciler) takeRestore(ctx context.Context, cluster *dbv1.DatabaseCluster, step plan.Step) ([]happening, error) {
	if volumes, first := step.(plan.MakeVolumes); first {
		return nil, r.make(ctx, volumes.Claims)
	}
	if jobs, start := step.(plan.StartRestore); start {
		return r.startRestore(ctx, jobs)
	}
	finish, _ := step.(plan.FinishRestore)
	return r.finishRestore(ctx, cluster, finish)
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=delete

func (r *Reconciler) deletePod(ctx context.Context, cluster *dbv1.DatabaseCluster, m state.Member, done happening) ([]happening, error) {
	if err := r.Writer.Delete(ctx, podOf(cluster, m)); err != nil {
		return nil, err
	}
	return []happening{done}, nil
}

// podOf names a member's pod as it was when a step was decided.
func podOf(cluster *dbv1.DatabaseCluster, m state.Member) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: cluster.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.Version,
	}}
}

// +kubebuilder:rbac:groups="",resources=pods/resize,verbs=patch

// resize gives a member its resources while it runs. What the API server does not take without a restart,
// as a change of the quality of service, is a restart.
func (r *Reconciler) resize(ctx context.Context, cluster *dbv1.DatabaseCluster, step plan.ResizeMember, why string) ([]happening, error) {
	err := r.Writer.Resize(ctx, podOf(cluster, step.Member), naming.Container, step.Resources)
	switch {
	case apierrors.IsInvalid(err), apierrors.IsNotFound(err), apierrors.IsMethodNotSupported(err), nodeIsTooSmall(err):
		return r.deletePod(ctx, cluster, step.Member, normal("MemberRestarted", "Restart", fmt.Sprintf(
			"restarting pod %s: it cannot be given its resources while it runs (%s)", step.Member.Name, apierrors.ReasonForError(err))))
	case err != nil:
		return nil, err
	}
	return []happening{normal("MemberResized", "Resize", why)}, nil
}

// nodeIsTooSmall tells whether a resize was refused because the node could never take it: made anew the pod
// may find a larger one. A quota is refused as Forbidden, too, but it would keep the pod from being made at
// all. The words are those of Kubernetes' admission plugin PodResize.
func nodeIsTooSmall(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "node didn't have enough allocatable resources")
}

// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=delete

func (r *Reconciler) recreate(ctx context.Context, observed state.Observed, why string) ([]happening, error) {
	if err := r.remember(ctx, observed); err != nil {
		return nil, err
	}
	if err := r.Writer.Delete(ctx, observed.StatefulSet, client.PropagationPolicy(metav1.DeletePropagationOrphan)); err != nil {
		return nil, err
	}
	return []happening{normal("StatefulSetRecreated", "Recreate", why)}, nil
}

func (r *Reconciler) scale(ctx context.Context, cluster *dbv1.DatabaseCluster, observed state.Observed, step plan.Scale) ([]happening, error) {
	lowered := observed.StatefulSet.DeepCopy()
	lowered.Spec.Replicas = &step.To
	if step.Stop {
		metav1.SetMetaDataAnnotation(&lowered.ObjectMeta, dbv1.AnnotationStopping, plan.StoppingMark(cluster))
	}
	if err := r.Writer.Change(ctx, observed.StatefulSet, lowered); err != nil {
		return nil, err
	}
	return []happening{normal("MemberStopped", "ScaleIn", fmt.Sprintf("stopping pod %s-%d", lowered.Name, step.To))}, nil
}

// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create;patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=create;patch

func (r *Reconciler) runHook(ctx context.Context, step plan.RunHook) ([]happening, error) {
	if _, err := r.Writer.Create(ctx, step.Object.Object); err != nil {
		return nil, err
	}
	return []happening{normal("HookStarted", "RunHook", fmt.Sprintf("deletion hook %q runs as %s", step.Hook, step.Object))}, nil
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters/finalizers,verbs=update

func (r *Reconciler) addFinalizer(ctx context.Context, cluster *dbv1.DatabaseCluster) error {
	before := cluster.DeepCopy()
	controllerutil.AddFinalizer(cluster, dbv1.Finalizer)
	return r.Writer.Change(ctx, before, cluster)
}

func (r *Reconciler) finalize(ctx context.Context, cluster *dbv1.DatabaseCluster, step plan.Finalize) ([]happening, error) {
	before := cluster.DeepCopy()
	controllerutil.RemoveFinalizer(cluster, dbv1.Finalizer)
	if err := r.Writer.Change(ctx, before, cluster); err != nil || step.Kept == "" {
		return nil, err
	}
	return []happening{warning("VolumesKept", "Finalize", step.Kept)}, nil
}
