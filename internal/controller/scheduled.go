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

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/schedule"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=create;patch;delete
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups/status,verbs=patch

func (e execution) onBackups(ctx context.Context, o operation.Backups) ([]kit.Event, error) {
	switch o := o.(type) {
	case operation.CreateBackup:
		return e.createScheduled(ctx, o)
	case operation.VerifyBackup:
		return e.askToVerify(ctx, o)
	case operation.ExpireBackups:
		return e.expire(ctx, o)
	}
	return nil, unknown(o)
}

// expire deletes the backups that no schedule retains. One event reports all: Kubernetes merges events of one
// reason about one object.
func (e execution) expire(ctx context.Context, o operation.ExpireBackups) ([]kit.Event, error) {
	done, err := onEach(o.Backups, func(removal operation.Removal) error { return e.remove(ctx, removal) })
	return kit.About(done, "; ", kit.Normal("BackupExpired", "Retain", "deleting ")), err
}

// askToVerify requests the verification of a backup that has not changed since the decision.
func (e execution) askToVerify(ctx context.Context, asked operation.VerifyBackup) ([]kit.Event, error) {
	before := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{
		Namespace: e.Cluster.Namespace, Name: asked.Backup.Name, UID: asked.Backup.UID, ResourceVersion: asked.Backup.Version,
	}}
	after := before.DeepCopy()
	metav1.SetMetaDataAnnotation(&after.ObjectMeta, dbv1.AnnotationVerify, asked.Request)
	if err := e.Writer.Change(ctx, before, after); err != nil {
		return nil, err
	}
	return []kit.Event{kit.Normal("VerificationScheduled", "Verify", fmt.Sprintf("DatabaseBackup %s will be restored into a temporary copy", asked.Backup.Name))}, nil
}

// createScheduled creates the DatabaseBackup of a schedule, then records the schedule in its status. A crash in
// between leaves a backup without an origin: the next pass finds it under the same name.
func (e execution) createScheduled(ctx context.Context, due operation.CreateBackup) ([]kit.Event, error) {
	created, err := e.Writer.Create(ctx, due.Child.Object)
	switch {
	case apierrors.IsAlreadyExists(err):
		return e.confirm(ctx, due)
	case err != nil:
		return nil, err
	}
	// The UID comes from the response to the creation, so the object is the operator's, whatever its version is now.
	return e.writeOrigin(ctx, due, metav1.ObjectMeta{UID: created.GetUID()})
}

// confirm checks an existing backup of that name. A backup that an attempt before a crash may have created gets its
// origin. Any other backup is not changed: the next pass reports it.
func (e execution) confirm(ctx context.Context, due operation.CreateBackup) ([]kit.Event, error) {
	existing := &dbv1.DatabaseBackup{}
	found, err := e.API().Find(ctx, client.ObjectKeyFromObject(due.Child.Object), existing)
	switch {
	case err != nil, !found, existing.DeletionTimestamp != nil, !schedule.Unconfirmed(due, state.BackupOf(existing)):
		return nil, err
	default:
		return e.writeOrigin(ctx, due, metav1.ObjectMeta{UID: existing.UID, ResourceVersion: existing.ResourceVersion})
	}
}

// writeOrigin writes the origin of the backup with that UID, and with that version if it is set.
func (e execution) writeOrigin(ctx context.Context, due operation.CreateBackup, is metav1.ObjectMeta) ([]kit.Event, error) {
	metadata := map[string]any{"uid": is.UID}
	if is.ResourceVersion != "" {
		metadata["resourceVersion"] = is.ResourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata, "status": map[string]any{"origin": due.Origin}})
	if err != nil {
		return nil, fmt.Errorf("marshal the origin of DatabaseBackup %s: %w", due.Child.Name(), err)
	}
	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: due.Child.Object.GetNamespace(), Name: due.Child.Name()}}
	if err := e.Writer.Client.Status().Patch(ctx, backup, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return nil, fmt.Errorf("write the origin of DatabaseBackup %s: %w", due.Child.Name(), err)
	}
	return []kit.Event{kit.Normal("BackupScheduled", "Schedule", fmt.Sprintf("schedule %q created DatabaseBackup %s", due.Origin.Schedule, due.Child.Name()))}, nil
}
