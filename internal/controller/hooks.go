/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/deletion"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=get;list;watch

// readHooks reads the objects that the deletion hooks created. They have no owner reference: the UID in a label
// identifies their owner.
func (o *observation) readHooks(ctx context.Context) {
	o.Hooks, o.HookBackups = map[string]jobs.Job{}, map[string]state.HookBackup{}
	for _, hook := range o.cluster.Spec.Deletion.Hooks {
		job, backup := &batchv1.Job{}, &dbv1.DatabaseBackup{}
		switch object := deletion.Makes(o.cluster, o.Fence(), hook); object.Kind {
		case "Job":
			if o.made(ctx, object, job) {
				o.Hooks[hook.Name] = o.task(ctx, job)
			}
		case "DatabaseBackup":
			if o.made(ctx, object, backup) {
				o.HookBackups[hook.Name] = state.HookBackupOf(backup)
			}
		}
	}
}

// made reads an object without an owner reference and reports whether it belongs to this cluster. It records a name
// conflict.
func (o *observation) made(ctx context.Context, ref state.Ref, object client.Object) bool {
	if !o.Find(ctx, ref.Name, object) {
		return false
	}
	if types.UID(object.GetLabels()[dbv1.LabelClusterUID]) != o.cluster.UID {
		o.Foreign = append(o.Foreign, ref)
		return false
	}
	return true
}

// task reads the pods of a Job, without pods of a previous Job of the same name.
func (o *observation) task(ctx context.Context, job *batchv1.Job) jobs.Job {
	pods := &corev1.PodList{}
	labels := naming.Selector(o.cluster.Name)
	labels[dbv1.LabelComponent] = job.Labels[dbv1.LabelComponent]
	labels[batchv1.ControllerUidLabel] = string(job.UID)
	o.list(ctx, pods, labels)
	if o.Err != nil {
		return jobs.Of(job, pods.Items)
	}
	task := jobs.Observe(ctx, o.logs, job, pods.Items, o.At)
	return task.ResourcesIn(jobs.FieldOfResources(o.cluster, task.Component))
}

// readNamespace checks whether objects can still be created in the namespace if a hook or a hand-over has not started
// yet. Only a dry-run request to the API server shows this.
func (o *observation) readNamespace(ctx context.Context, r *Reconciler) {
	waits := engine.HasRoles(o.Engine) && len(o.Members) > 1
	for _, hook := range o.cluster.Spec.Deletion.Hooks {
		_, runs := o.Hooks[hook.Name]
		_, saves := o.HookBackups[hook.Name]
		waits = waits || hook.Type != dbv1.HookShutdown && !runs && !saves
	}
	if !waits || o.Err != nil || o.Fallback != nil {
		return
	}
	o.Terminating = r.Writer.Terminating(ctx, o.cluster.Namespace, naming.HookJob(o.cluster.Name, "probe", o.cluster.UID))
}
