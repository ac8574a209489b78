/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

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
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups,verbs=create;patch
// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups/status,verbs=patch

// Act creates the DatabaseBackup of a schedule, then records the schedule in its status. A crash in between leaves a backup without an
// origin: the next pass finds it under the same name.
func (c CreateBackup) Act(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	created, err := m.Writer.Create(ctx, c.Child.Object)
	switch {
	case apierrors.IsAlreadyExists(err):
		return c.confirm(ctx, m)
	case err != nil:
		return nil, err
	}
	// The UID comes from the response to the creation, so the object is the operator's, whatever its version is now.
	return c.writeOrigin(ctx, m, metav1.ObjectMeta{UID: created.GetUID()})
}

// confirm checks an existing backup of that name. A backup that an attempt before a crash may have created gets its
// origin. Any other backup is not changed: the next pass reports it.
func (c CreateBackup) confirm(ctx context.Context, m subject.Means) ([]kit.Event, error) {
	existing := &dbv1.DatabaseBackup{}
	found, err := kit.View{Reader: m.Live}.Find(ctx, client.ObjectKeyFromObject(c.Child.Object), existing)
	switch {
	case err != nil, !found, existing.DeletionTimestamp != nil, !unconfirmed(c, state.BackupOf(existing)):
		return nil, err
	default:
		return c.writeOrigin(ctx, m, metav1.ObjectMeta{UID: existing.UID, ResourceVersion: existing.ResourceVersion})
	}
}

// writeOrigin writes the origin of the backup with that UID, and with that version if it is set.
func (c CreateBackup) writeOrigin(ctx context.Context, m subject.Means, is metav1.ObjectMeta) ([]kit.Event, error) {
	metadata := map[string]any{"uid": is.UID}
	if is.ResourceVersion != "" {
		metadata["resourceVersion"] = is.ResourceVersion
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata, "status": map[string]any{"origin": c.Origin}})
	if err != nil {
		return nil, fmt.Errorf("marshal the origin of DatabaseBackup %s: %w", c.Child.Name(), err)
	}
	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: c.Child.Object.GetNamespace(), Name: c.Child.Name()}}
	if err := m.Writer.Client.Status().Patch(ctx, backup, client.RawPatch(types.MergePatchType, patch),
		client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return nil, fmt.Errorf("write the origin of DatabaseBackup %s: %w", c.Child.Name(), err)
	}
	return []kit.Event{kit.Normal("BackupScheduled", "Schedule",
		fmt.Sprintf("schedule %q created DatabaseBackup %s", c.Origin.Schedule, c.Child.Name()))}, nil
}
