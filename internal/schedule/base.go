/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// base is the time for which the first schedule creates a backup because the continuous archive lacks one, for example after a gap. It is a
// whole minute, as that of each scheduled backup: their names have minutes. After any other backup since then, or while one runs or has
// not been looked at, none is due. If that one does not help, the next time of a schedule comes.
func (p *Plan) base(cluster *dbv1.DatabaseCluster, observed state.Observed, schedules []schedule) (at time.Time, due bool) {
	seen := cluster.Status.Recovery
	if len(schedules) == 0 || !engine.Archives(cluster.Spec) || seen == nil || seen.NeedsBackupSince == nil {
		return time.Time{}, false
	}
	since := seen.NeedsBackupSince
	if at = since.Truncate(time.Minute).Add(time.Minute); at.After(observed.At) {
		p.wake(at)
		return time.Time{}, false
	}
	// One without an origin may be due itself: the operator could not write the origin.
	name := naming.ScheduledBackup(cluster.Name, schedules[0].Name, at)
	return at, !slices.ContainsFunc(observed.Backups, func(b state.Backup) bool {
		return b.Of(cluster) && mayHelp(b, seen, at) && (b.Name != name || b.Schedule != "")
	})
}

// mayHelp reports whether a backup was created for the archive, or may be one that it needs: the status does not know yet.
func mayHelp(b state.Backup, seen *dbv1.ClusterRecoveryStatus, at time.Time) bool {
	created := !b.Created.Before(seen.NeedsBackupSince) || !b.ScheduledAt.Time.Before(at)
	return created || !b.Completed.Before(&seen.CheckedAt) || !b.Phase.Finished()
}
