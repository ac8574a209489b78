/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"k8s.io/apimachinery/pkg/api/equality"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// reuses reports whether the next backup of a cluster stores only what has changed.
func reuses(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Backup != nil && cluster.Spec.Backup.UnchangedData == dbv1.ReuseUnchanged
}

// reused is the URL of the earlier backup to which the Jobs of a backup may refer; "" for none. The spec may have changed since it was
// recorded.
func (s situation) reused() string {
	if !reuses(s.Cluster) {
		return ""
	}
	return s.backup.Status.Reuses
}

// EarlierOf is the URL of the last complete backup of the cluster at the destination of a backup that starts; "" if there is none, or if
// its data is in doubt.
func EarlierOf(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster, all []dbv1.DatabaseBackup) string {
	if cluster == nil || Begun(backup.Status) || !reuses(cluster) {
		return ""
	}
	return earlierBackup(destination(backup, cluster), string(cluster.UID), all)
}

func earlierBackup(at *dbv1.BackupDestination, clusterUID string, others []dbv1.DatabaseBackup) string {
	var last *dbv1.DatabaseBackup
	for i := range others {
		is := others[i].Status
		whole := is.Phase == dbv1.BackupCompleted && others[i].DeletionTimestamp == nil && is.ClusterUID == clusterUID
		if whole && equality.Semantic.DeepEqual(is.Destination, at) && (last == nil || state.EndOf(is).After(state.EndOf(last.Status))) {
			last = &others[i]
		}
	}
	if last == nil || doubtful(last, others) {
		return ""
	}
	return last.Status.Location
}

// doubtful reports whether the verification of a backup has failed, or that of one to which it refers. All of them have parts of one copy
// of the data.
func doubtful(last *dbv1.DatabaseBackup, others []dbv1.DatabaseBackup) bool {
	for seen := map[string]bool{}; last != nil && !seen[last.Status.Location]; {
		if verifying(last.Status) == dbv1.VerificationFailed {
			return true
		}
		seen[last.Status.Location] = true
		last = locatedAt(last.Status.Reuses, others)
	}
	return false
}

// locatedAt is the backup at a location; nil if it was deleted.
func locatedAt(location string, all []dbv1.DatabaseBackup) *dbv1.DatabaseBackup {
	for i := range all {
		if location != "" && all[i].Status.Location == location {
			return &all[i]
		}
	}
	return nil
}
