/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/execute"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Execute executes one operation of the plan. It creates a Job under a name that no other object has.
func (r *Reconciler) Execute(ctx context.Context, p *pass, o operation.Operation) ([]kit.Event, error) {
	if create, is := o.(operation.Create); is {
		if exists, err := r.exists(ctx, p.Object, create.Objects[0].Name()); exists || err != nil {
			return nil, err
		}
	}
	return execute.Hands{Base: r.Base, Object: p.Object, Purpose: p.Plan.Why}.Execute(ctx, o)
}

// exists reports whether the Job of that name exists. Its labels must identify it as the backup's: a Job without them would never be found
// again.
func (r *Reconciler) exists(ctx context.Context, backup *dbv1.DatabaseBackup, name string) (bool, error) {
	job := &batchv1.Job{}
	err := r.Live.Get(ctx, client.ObjectKey{Namespace: backup.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for Job %s: %w", name, err)
	case job.Labels[dbv1.LabelBackupUID] != string(backup.UID) || job.Labels[dbv1.LabelManagedBy] != dbv1.LabelManagedByValue:
		return false, operation.ForeignError{Kind: "Job", Name: name, For: "DatabaseBackup"}
	}
	return true, nil
}
