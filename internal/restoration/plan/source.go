/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// sourceOf is the backup with which the preview begins, as the spec of a cluster names it; or why there is none.
func sourceOf(restore *dbv1.DatabaseRestore, seen RestoreFacts) (source dbv1.BackupSource, problem string) {
	asked := restore.Spec.Source
	source = dbv1.BackupSource{Location: asked.Location, RecoveryTarget: asked.RecoveryTarget}
	switch {
	case asked.Location != nil:
		return source, ""
	case asked.BackupRef != nil:
		source.Name = asked.BackupRef.Name
		return source, ""
	}
	newest, found := newest(seen, until(asked.RecoveryTarget))
	if !found {
		return source, missing(seen.Cluster.Name, asked.RecoveryTarget)
	}
	source.Name = newest.Name
	return source, ""
}

// until is the time before which the backup was complete; zero for any.
func until(target *dbv1.RecoveryTarget) time.Time {
	if target == nil || target.Time == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, target.Time)
	if err != nil { // the API server has checked it
		return time.Time{}
	}
	return at
}

// newest is the newest backup of the cluster that was complete before a time. One whose last verification failed does not count.
func newest(seen RestoreFacts, before time.Time) (last state.Backup, found bool) {
	for i := range seen.Backups {
		b := state.BackupOf(&seen.Backups[i])
		usable := b.Complete() && !b.Bad() && b.RanFor == seen.Cluster.UID && (before.IsZero() || !b.Completed.After(before))
		if usable && (!found || b.Completed.After(last.Completed.Time)) {
			last, found = b, true
		}
	}
	return last, found
}

func missing(cluster string, target *dbv1.RecoveryTarget) string {
	text := fmt.Sprintf("DatabaseCluster %s has no complete backup", cluster)
	if at := until(target); !at.IsZero() {
		text += fmt.Sprintf(" from before %s. Its status.recovery has the times that can be recovered", target.Time)
	}
	return text + ". Create a DatabaseBackup, or set spec.source of another DatabaseRestore to a backup"
}
