/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// createScheduled creates the DatabaseBackup of a schedule, then writes in its status that the schedule created it. A
// crash between the two leaves one without an origin: the next pass finds it under the same name.
func (r *Reconciler) createScheduled(ctx context.Context, due plan.Scheduled) (*happening, error) {
	logf.FromContext(ctx).Info("creating", "object", due.Child.String())
	created, err := r.Writer.Make(ctx, due.Child.Object)
	switch {
	case apierrors.IsAlreadyExists(err):
		return r.confirm(ctx, due)
	case err != nil:
		return nil, err
	}
	// The UID is of the answer to the creation, so the object is ours whatever its version is by now.
	return r.writeOrigin(ctx, due, metav1.ObjectMeta{UID: created.GetUID()})
}

// confirm looks at the backup that has the name already. One that an attempt before a crash may have created gets its
// origin. Any other is left alone: the next pass reports it.
func (r *Reconciler) confirm(ctx context.Context, due plan.Scheduled) (*happening, error) {
	existing := &dbv1.DatabaseBackup{}
	found, err := r.liveView().find(ctx, client.ObjectKeyFromObject(due.Child.Object), existing)
	switch {
	case err != nil, !found, existing.DeletionTimestamp != nil, !due.Unconfirmed(state.BackupOf(existing)):
		return nil, err
	default:
		return r.writeOrigin(ctx, due, metav1.ObjectMeta{UID: existing.UID, ResourceVersion: existing.ResourceVersion})
	}
}

// writeOrigin writes the origin of the backup with that UID, and with that version where one is given.
func (r *Reconciler) writeOrigin(ctx context.Context, due plan.Scheduled, is metav1.ObjectMeta) (*happening, error) {
	metadata := map[string]any{"uid": is.UID}
	if is.ResourceVersion != "" {
		metadata["resourceVersion"] = is.ResourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata, "status": map[string]any{"origin": due.Origin}})
	if err != nil {
		return nil, fmt.Errorf("marshal the origin of DatabaseBackup %s: %w", due.Child.Name(), err)
	}
	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: due.Child.Object.GetNamespace(), Name: due.Child.Name()}}
	if err := r.Writer.Client.Status().Patch(ctx, backup, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return nil, fmt.Errorf("write the origin of DatabaseBackup %s: %w", due.Child.Name(), err)
	}
	done := normal("BackupScheduled", "Schedule", fmt.Sprintf("schedule %q created DatabaseBackup %s", due.Origin.Schedule, due.Child.Name()))
	return &done, nil
}
