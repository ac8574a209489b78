/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=get;list;watch

// readHooks reads what the deletion hooks made. It has no owner; the UID in its label tells whose it is.
func (o *observation) readHooks(ctx context.Context) {
	o.Hooks, o.HookBackups = map[string]state.Task{}, map[string]state.HookBackup{}
	for _, hook := range o.cluster.Spec.Deletion.Hooks {
		switch hook.Type {
		case dbv1.HookCommand:
			o.readHookJob(ctx, hook)
		case dbv1.HookBackup:
			o.readHookBackup(ctx, hook)
		case dbv1.HookShutdown: // is recorded in the status
		}
	}
}

func (o *observation) readHookJob(ctx context.Context, hook dbv1.DeletionHook) {
	job := &batchv1.Job{}
	if o.made(ctx, state.Ref{Kind: "Job", Name: naming.HookJob(o.cluster.Name, hook.Name, o.cluster.UID)}, job) {
		o.Hooks[hook.Name] = o.task(ctx, job)
	}
}

func (o *observation) readHookBackup(ctx context.Context, hook dbv1.DeletionHook) {
	backup, name := &dbv1.DatabaseBackup{}, plan.HookBackupName(o.cluster, o.Observed, hook)
	if name != "" && o.made(ctx, state.Ref{Kind: "DatabaseBackup", Name: name}, backup) {
		o.HookBackups[hook.Name] = state.HookBackupOf(backup)
	}
}

// made reads an object that has no owner and tells whether it was made for this cluster. Somebody else's is noted.
func (o *observation) made(ctx context.Context, ref state.Ref, object client.Object) bool {
	if !o.exists(ctx, ref.Name, object) {
		return false
	}
	if types.UID(object.GetLabels()[dbv1.LabelClusterUID]) != o.cluster.UID {
		o.Foreign = append(o.Foreign, ref)
		return false
	}
	return true
}

// task reads the pods of a Job. Those of a former one of the same name are not its own.
func (o *observation) task(ctx context.Context, job *batchv1.Job) state.Task {
	pods := &corev1.PodList{}
	labels := naming.Selector(o.cluster.Name)
	labels[dbv1.LabelComponent] = job.Labels[dbv1.LabelComponent]
	labels[batchv1.ControllerUidLabel] = string(job.UID)
	o.list(ctx, pods, labels)
	return o.refused(ctx, state.TaskOf(job, pods.Items))
}

// refused adds why a Job has no pod. That it cannot be read harms nobody.
func (o *observation) refused(ctx context.Context, task state.Task) state.Task {
	if o.err != nil || o.logs == nil || !task.Podless(o.At) {
		return task
	}
	text, err := o.logs.Refusal(ctx, o.cluster.Namespace, task.UID)
	if err != nil {
		logf.FromContext(ctx).V(1).Info("why a Job has no pod is not known", "job", task.Job, "cause", err.Error())
	}
	return task.Refuse(text)
}

// readNamespace finds out whether anything can still be made in the namespace, where a hook is still to start. Only
// the API server itself can tell, and only of what is about to be made.
func (o *observation) readNamespace(ctx context.Context, r *Reconciler) {
	waits := false
	for _, hook := range o.cluster.Spec.Deletion.Hooks {
		_, runs := o.Hooks[hook.Name]
		_, saves := o.HookBackups[hook.Name]
		waits = waits || hook.Type != dbv1.HookShutdown && !runs && !saves
	}
	if !waits || o.err != nil || o.fallback != nil {
		return
	}
	o.Terminating = r.Writer.Terminating(ctx, o.cluster.Namespace, naming.HookJob(o.cluster.Name, "probe", o.cluster.UID))
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=patch

// hold puts the operator's finalizer on the pod of a member that is about to stop, so that its end can be read.
func (r *Reconciler) hold(ctx context.Context, cluster *dbv1.DatabaseCluster, m state.Member) error {
	pod := &corev1.Pod{}
	found, err := r.liveView().find(ctx, client.ObjectKey{Namespace: cluster.Namespace, Name: m.Name}, pod)
	if err != nil || !found || pod.UID != m.UID || pod.DeletionTimestamp != nil {
		return err // the next pass sees it
	}
	held := pod.DeepCopy()
	controllerutil.AddFinalizer(held, dbv1.Finalizer)
	return r.Writer.Change(ctx, pod, held)
}

// release takes the operator's finalizer off a pod.
func (r *Reconciler) release(ctx context.Context, namespace, name string, uid types.UID) error {
	pod := &corev1.Pod{}
	found, err := r.liveView().find(ctx, client.ObjectKey{Namespace: namespace, Name: name}, pod)
	if err != nil || !found || pod.UID != uid || !state.Holds(pod) {
		return err
	}
	released := pod.DeepCopy()
	controllerutil.RemoveFinalizer(released, dbv1.Finalizer)
	return client.IgnoreNotFound(r.Writer.Change(ctx, pod, released))
}

// releaseLeft takes the operator's finalizer off the pods of a cluster that is gone, as where somebody took ours off
// the cluster by hand.
func (r *Reconciler) releaseLeft(ctx context.Context, key client.ObjectKey) error {
	o := &observation{view: r.view(), cluster: &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}}
	pods := &corev1.PodList{}
	o.list(ctx, pods, map[string]string{dbv1.LabelName: dbv1.LabelNameValue, dbv1.LabelInstance: key.Name})
	for i := range pods.Items {
		if pod := &pods.Items[i]; o.err == nil && state.Holds(pod) {
			o.err = r.releaseOrphan(ctx, key, pod)
		}
	}
	return o.err
}

func (r *Reconciler) releaseOrphan(ctx context.Context, key client.ObjectKey, pod *corev1.Pod) error {
	err := r.Live.Get(ctx, key, &dbv1.DatabaseCluster{})
	if !apierrors.IsNotFound(err) {
		if err != nil {
			return fmt.Errorf("read DatabaseCluster %s: %w", key.Name, err)
		}
		return nil // the cache lags behind
	}
	return r.release(ctx, key.Namespace, pod.Name, pod.UID)
}
