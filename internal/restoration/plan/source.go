/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// source is the data of a preview: a backup of the cluster, or one at a location.
type source struct {
	dbv1.BackupSource
	// backup is nil for one at a location.
	backup *dbv1.DatabaseBackup
}

// sourceOf is the source of a preview, or why there is none. A preview that is created again has the same.
func sourceOf(restore *dbv1.DatabaseRestore, seen RestoreFacts) (from source, problem string) {
	asked, cluster := restore.Spec.Source, restore.Spec.ClusterRef.Name
	from.Location, from.RecoveryTarget = asked.Location, asked.RecoveryTarget
	if asked.Location != nil {
		return from, ""
	}
	first := restore.Status.BackupRef
	if asked.BackupRef != nil {
		first = asked.BackupRef
	}
	if first != nil {
		i := slices.IndexFunc(seen.Backups, func(b dbv1.DatabaseBackup) bool { return b.Name == first.Name })
		if i < 0 {
			return from, fmt.Sprintf("DatabaseBackup %s of DatabaseCluster %s does not exist. Create a DatabaseRestore with another backup, or "+
				"with its location", first.Name, cluster)
		}
		from.Name, from.backup = first.Name, &seen.Backups[i]
		return from, ""
	}
	from.backup = state.BestBackup(seen.Cluster, seen.Backups, asked.RecoveryTarget)
	if from.backup == nil {
		return from, missing(seen.Cluster, asked.RecoveryTarget)
	}
	from.Name = from.backup.Name
	return from, ""
}

func missing(of *dbv1.DatabaseCluster, target *dbv1.RecoveryTarget) string {
	cluster, recovery := of.Name, of.Status.Recovery
	switch {
	case target == nil:
		return fmt.Sprintf("DatabaseCluster %s has no complete backup. Create a DatabaseBackup, or set spec.source of another DatabaseRestore",
			cluster)
	case target.Time == "":
		return fmt.Sprintf("DatabaseCluster %s has no complete backup that began in its archive. Create a DatabaseBackup", cluster)
	case recovery == nil || recovery.Oldest == nil:
		return fmt.Sprintf("DatabaseCluster %s has no backup in its archive that was complete before %s, and its status.recovery has no times "+
			"yet. To begin with a backup of other volumes, or of a previous cluster, create another DatabaseRestore with its name in "+
			"spec.source.backupRef", cluster, target.Time)
	default:
		return fmt.Sprintf("DatabaseCluster %s has no backup in its archive that was complete before %s. Its status.recovery has the times that "+
			"can be recovered: create another DatabaseRestore with one of these", cluster, target.Time)
	}
}

// describe is the data, for messages.
func describe(from dbv1.BackupSource) string {
	text := ""
	switch {
	case from.Name != "":
		text = "DatabaseBackup " + from.Name
	case from.Location != nil:
		text = "the backup at " + from.Location.URL
	}
	switch target := from.RecoveryTarget; {
	case target == nil:
		return "the data of " + text
	case target.Name != "":
		return fmt.Sprintf("the data at the point %q, from %s", target.Name, text)
	case target.Time == "":
		return "the data at the end of the archive, from " + text
	default:
		return fmt.Sprintf("the data of %s, from %s", target.Time, text)
	}
}
