/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;create;patch;delete

// act carries a plan out and returns what people should hear of.
func (r *Reconciler) act(ctx context.Context, backup *dbv1.DatabaseBackup, todo Plan) ([]happening, error) {
	if todo.AddFinalizer {
		before := backup.DeepCopy()
		controllerutil.AddFinalizer(backup, dbv1.Finalizer)
		if err := r.Writer.Change(ctx, before, backup); err != nil {
			return nil, err
		}
	}
	if todo.Step == nil {
		return nil, nil
	}
	logf.FromContext(ctx).Info("taking a step", "step", fmt.Sprintf("%T", todo.Step), "reason", todo.Why)
	switch step := todo.Step.(type) {
	case MakeJob:
		return r.make(ctx, backup, step)
	case Seclude:
		return nil, r.seclude(ctx, step)
	case StopJob:
		return nil, r.deleteJob(ctx, backup, step.Job, metav1.DeletePropagationForeground)
	case CleanUp:
		return nil, r.cleanUp(ctx, backup, step.Jobs)
	case Finalize:
		return r.finalize(ctx, backup, step)
	default:
		return nil, fmt.Errorf("no way to take step %T", step)
	}
}

// make creates a Job under a name that nobody else has.
func (r *Reconciler) make(ctx context.Context, backup *dbv1.DatabaseBackup, step MakeJob) ([]happening, error) {
	job := &batchv1.Job{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: backup.Namespace, Name: step.Job.Name()}, job)
	switch {
	case err == nil && isOurs(job, backup):
		return nil, nil
	case err == nil:
		return nil, foreignError{"Job", job.Name}
	case !apierrors.IsNotFound(err):
		return nil, fmt.Errorf("look for Job %s: %w", step.Job.Name(), err)
	}
	if step.Policy != nil {
		if _, err := r.Writer.Create(ctx, step.Policy.Object); err != nil {
			return nil, err
		}
	}
	_, err = r.Writer.Create(ctx, step.Job.Object)
	switch {
	case step.Deletes && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// Nothing can be created any more, and waiting would hold the namespace up for ever.
		return r.finalize(ctx, backup, Finalize{Note: fmt.Sprintf(
			"namespace %s is being deleted, so no Job can delete the data: it stays at %s", backup.Namespace, backup.Status.Location)})
	case err != nil:
		return nil, err
	}
	return []happening{normal("JobStarted", "MakeJob", fmt.Sprintf("Job %s is made", step.Job.Name()))}, nil
}

// seclude writes the policy. One that there is has to be as it was when that was decided.
func (r *Reconciler) seclude(ctx context.Context, step Seclude) error {
	var err error
	if step.Live == nil {
		_, err = r.Writer.Create(ctx, step.Policy.Object)
	} else {
		_, err = r.Writer.Update(ctx, step.Policy.Object, step.Live.UID, step.Live.ResourceVersion)
	}
	return err
}

// isOurs tells whether a Job is found by its labels: one that has lost them would be waited for without end.
func isOurs(job *batchv1.Job, backup *dbv1.DatabaseBackup) bool {
	return job.Labels[dbv1.LabelBackupUID] == string(backup.UID) && job.Labels[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue
}

func (r *Reconciler) deleteJob(ctx context.Context, backup *dbv1.DatabaseBackup, job Job, propagation metav1.DeletionPropagation) error {
	object := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: backup.Namespace, Name: job.Job, UID: job.UID, ResourceVersion: job.Version,
	}}
	return r.Writer.Delete(ctx, object, client.PropagationPolicy(propagation))
}

// cleanUp deletes Jobs with their pods, whose volumes go with them, and the policy around those.
func (r *Reconciler) cleanUp(ctx context.Context, backup *dbv1.DatabaseBackup, jobs []Job) error {
	policy := &networkingv1.NetworkPolicy{}
	key := client.ObjectKey{Namespace: backup.Namespace, Name: naming.VerificationPolicy(backup.Spec.Cluster, backup.UID)}
	err := r.Live.Get(ctx, key, policy)
	switch {
	case err == nil && policy.Labels[dbv1.LabelBackupUID] == string(backup.UID):
		err = r.Writer.Delete(ctx, policy)
	case apierrors.IsNotFound(err):
		err = nil
	}
	if err != nil {
		return err // the Jobs tell that there is something to clean up: they go last
	}
	var errs []error
	for _, job := range jobs {
		errs = append(errs, r.deleteJob(ctx, backup, job, metav1.DeletePropagationBackground))
	}
	return errors.Join(errs...)
}

// finalize lets the backup go. The Job that deleted its data goes last: without it a repeat would only find that there is
// nothing left to delete.
func (r *Reconciler) finalize(ctx context.Context, backup *dbv1.DatabaseBackup, step Finalize) ([]happening, error) {
	before := backup.DeepCopy()
	controllerutil.RemoveFinalizer(backup, dbv1.Finalizer)
	if err := r.Writer.Change(ctx, before, backup); err != nil {
		return nil, err
	}
	var done []happening
	if step.Note != "" {
		done = append(done, happening{corev1.EventTypeWarning, "DataKept", "Finalize", step.Note})
	}
	if step.Job == nil {
		return done, nil
	}
	return done, r.deleteJob(ctx, backup, *step.Job, metav1.DeletePropagationBackground)
}

func asForeign(err error, into *foreignError) bool { return errors.As(err, into) }
