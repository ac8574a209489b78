/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// BestBackup returns the backup with which a restore of the data of a cluster begins, if the user names none: the newest complete one that
// did not fail its last verification; nil for none. The operator and the plugin of kubectl choose the same one.
func BestBackup(cluster *dbv1.DatabaseCluster, backups []dbv1.DatabaseBackup, target *dbv1.RecoveryTarget) (best *dbv1.DatabaseBackup) {
	for i := range backups {
		one := &backups[i]
		b := BackupOf(one)
		usable := b.Cluster == cluster.Name && b.Complete() && !b.Bad() && b.RanFor == cluster.UID
		if usable && Begins(one, target) && (best == nil || better(cluster, one, best, target)) {
			best = one
		}
	}
	return best
}

// better reports whether a backup is a better source than another one: it is of the volumes that the cluster uses, or a recovery can start
// with it as far as status.recovery shows, or it is newer.
func better(cluster *dbv1.DatabaseCluster, one, than *dbv1.DatabaseBackup, target *dbv1.RecoveryTarget) bool {
	uses := func(b *dbv1.DatabaseBackup) bool {
		return cmp.Or(b.Status.VolumeClaimTemplate, naming.DataVolume) == naming.ClaimTemplate(cluster)
	}
	starts := func(b *dbv1.DatabaseBackup) bool {
		seen := cluster.Status.Recovery
		return target == nil || seen == nil || !slices.Contains(seen.UnusableBackups, b.Name)
	}
	for _, has := range []func(*dbv1.DatabaseBackup) bool{uses, starts} {
		if has(one) != has(than) {
			return has(one)
		}
	}
	return EndOf(one.Status).After(EndOf(than.Status))
}

// Begins reports whether a restore can begin with a backup. For a target in the archive, it is beside that, and was complete before.
func Begins(b *dbv1.DatabaseBackup, target *dbv1.RecoveryTarget) bool {
	if target == nil {
		return true
	}
	beside := b.Spec.Destination == nil && BeginsInArchive(b.Status)
	until := Until(target)
	return beside && (until.IsZero() || !EndOf(b.Status).After(until))
}

// Until is the moment of a target; zero for the end of the archive, and for none.
func Until(target *dbv1.RecoveryTarget) time.Time {
	if target == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, target.Time)
	if err != nil { // it is empty, because the API server has checked it
		return time.Time{}
	}
	return at
}
