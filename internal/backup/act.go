/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;create;patch;delete

// Execute executes one operation of the plan.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	backup := p.Object
	switch o := o.(type) {
	case plan.AddBackupFinalizer:
		return nil, r.addFinalizer(ctx, backup)
	case plan.CreateJob:
		return r.createJob(ctx, backup, o)
	case plan.ApplyPolicy:
		return nil, r.applyPolicy(ctx, o)
	case plan.DeletePolicy:
		return nil, r.deletePolicy(ctx, backup, o.Name)
	case plan.StopJob:
		return nil, r.deleteJob(ctx, backup, o.Job, metav1.DeletePropagationForeground)
	case plan.DeleteJob:
		return nil, r.deleteJob(ctx, backup, o.Job, metav1.DeletePropagationBackground)
	case plan.FinalizeBackup:
		return r.finalize(ctx, backup, o.Note)
	default:
		return nil, fmt.Errorf("unknown operation %T", o)
	}
}

func (r *Reconciler) addFinalizer(ctx context.Context, backup *dbv1.DatabaseBackup) error {
	before := backup.DeepCopy()
	controllerutil.AddFinalizer(backup, dbv1.Finalizer)
	return r.Writer.Change(ctx, before, backup)
}

// createJob creates a Job under a name that no other object has.
func (r *Reconciler) createJob(ctx context.Context, backup *dbv1.DatabaseBackup, o plan.CreateJob) ([]kit.Event, error) {
	job := &batchv1.Job{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: backup.Namespace, Name: o.Job.Name()}, job)
	switch {
	case err == nil && hasJobLabels(job, backup):
		return nil, nil
	case err == nil:
		return nil, operation.ForeignError{Kind: "Job", Name: job.Name, For: "DatabaseBackup"}
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("look for Job %s: %w", o.Job.Name(), err)
	}
	_, err = r.Writer.Create(ctx, o.Job.Object)
	switch {
	case o.Deletes && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// No object can be created any more, and waiting would block the deletion of the namespace forever.
		return r.finalize(ctx, backup, fmt.Sprintf(
			"namespace %s is terminating, so no Job can delete the data: it is retained at %s", backup.Namespace, backup.Status.Location))
	case err != nil:
		return nil, err
	}
	return []kit.Event{kit.Normal("JobStarted", "CreateJob", fmt.Sprintf("created Job %s", o.Job.Name()))}, nil
}

// applyPolicy writes the policy. An existing policy must be unchanged since the decision.
func (r *Reconciler) applyPolicy(ctx context.Context, o plan.ApplyPolicy) error {
	if o.Live == nil {
		_, err := r.Writer.Create(ctx, o.Policy.Object)
		return err
	}
	_, err := r.Writer.Update(ctx, o.Policy.Object, o.Live.UID, o.Live.ResourceVersion)
	return err
}

// hasJobLabels reports whether the labels of a Job identify it as the backup's: a Job without them would never be found
// again.
func hasJobLabels(job *batchv1.Job, backup *dbv1.DatabaseBackup) bool {
	return job.Labels[dbv1.LabelBackupUID] == string(backup.UID) && job.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue
}

func (r *Reconciler) deleteJob(ctx context.Context, backup *dbv1.DatabaseBackup, job jobs.Job, propagation metav1.DeletionPropagation) error {
	object := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: backup.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.Version,
	}}
	return r.Writer.Delete(ctx, object, client.PropagationPolicy(propagation))
}

// deletePolicy deletes the policy of the copies of a backup, if the backup owns it.
func (r *Reconciler) deletePolicy(ctx context.Context, backup *dbv1.DatabaseBackup, name string) error {
	policy := &networkingv1.NetworkPolicy{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: backup.Namespace, Name: name}, policy)
	if err == nil && policy.Labels[dbv1.LabelBackupUID] == string(backup.UID) {
		return r.Writer.Delete(ctx, policy)
	}
	return client.IgnoreNotFound(err)
}

// finalize removes the operator's finalizer from the backup.
func (r *Reconciler) finalize(ctx context.Context, backup *dbv1.DatabaseBackup, note string) ([]kit.Event, error) {
	before := backup.DeepCopy()
	controllerutil.RemoveFinalizer(backup, dbv1.Finalizer)
	if err := r.Writer.Change(ctx, before, backup); err != nil || note == "" {
		return nil, err
	}
	return []kit.Event{kit.Warning("DataRetained", "Finalize", note)}, nil
}
