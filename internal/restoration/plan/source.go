/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
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
	from.backup = newest(seen, asked.RecoveryTarget)
	if from.backup == nil {
		return from, missing(seen.Cluster, asked.RecoveryTarget)
	}
	from.Name = from.backup.Name
	return from, ""
}

// newest is the newest backup of the cluster; for a moment in the archive, one with which a recovery to it can begin. One whose last
// verification failed does not count.
func newest(seen RestoreFacts, target *dbv1.RecoveryTarget) *dbv1.DatabaseBackup {
	var last *dbv1.DatabaseBackup
	for i := range seen.Backups {
		one := &seen.Backups[i]
		b := state.BackupOf(one)
		usable := b.Complete() && !b.Bad() && b.RanFor == seen.Cluster.UID && (target == nil || begins(one, until(target)))
		if usable && (last == nil || better(seen.Cluster, one, last)) {
			last = one
		}
	}
	return last
}

// better reports whether a backup is a better source than another one: it is of the volumes that the cluster uses, or newer.
func better(cluster *dbv1.DatabaseCluster, one, than *dbv1.DatabaseBackup) bool {
	uses := func(b *dbv1.DatabaseBackup) bool {
		return cmp.Or(b.Status.VolumeClaimTemplate, naming.DataVolume) == naming.ClaimTemplate(cluster)
	}
	if uses(one) != uses(than) {
		return uses(one)
	}
	return state.EndOf(one.Status).After(state.EndOf(than.Status))
}

// begins reports whether a recovery to a time can begin with a backup: it is beside the archive, and was complete before.
func begins(b *dbv1.DatabaseBackup, until time.Time) bool {
	beside := b.Spec.Destination == nil && state.BeginsInArchive(b.Status)
	return beside && (until.IsZero() || !state.EndOf(b.Status).After(until))
}

// until is the moment of a target; zero for the end of the archive, and for none.
func until(target *dbv1.RecoveryTarget) time.Time {
	if target == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, target.Time)
	if err != nil { // it is empty, because the API server has checked it
		return time.Time{}
	}
	return at
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
