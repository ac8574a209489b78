/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/deletion"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=get;list;watch

// readHooks reads the objects that the deletion hooks created. They have no owner reference: the UID in a label
// identifies their owner.
func (o *observation) readHooks(ctx context.Context) {
	o.Hooks, o.HookBackups = map[string]jobs.Job{}, map[string]state.HookBackup{}
	for _, hook := range o.Cluster.Spec.Deletion.Hooks {
		job, backup := &batchv1.Job{}, &dbv1.DatabaseBackup{}
		switch object := deletion.Makes(o.Cluster, o.Fence(), hook); object.Kind {
		case "Job":
			if o.Made(ctx, object, job) {
				o.Hooks[hook.Name] = o.Job(ctx, resources.HookAction, job)
			}
		case "DatabaseBackup":
			if o.Made(ctx, object, backup) {
				o.HookBackups[hook.Name] = state.HookBackupOf(backup)
			}
		}
	}
}

// readNamespace checks whether objects can still be created in the namespace if a hook or a hand-over has not started
// yet. Only a dry-run request to the API server shows this.
func (o *observation) readNamespace(ctx context.Context, r *Reconciler) {
	waits := engine.HasRoles(o.Engine) && len(o.Members) > 1
	for _, hook := range o.Cluster.Spec.Deletion.Hooks {
		_, runs := o.Hooks[hook.Name]
		_, saves := o.HookBackups[hook.Name]
		waits = waits || hook.Type != dbv1.HookShutdown && !runs && !saves
	}
	if !waits || o.Err != nil || o.Fallback != nil {
		return
	}
	o.Terminating = r.Writer.Terminating(ctx, o.Cluster.Namespace, naming.HookJob(o.Cluster.Name, "probe", o.Cluster.UID))
}
