/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// invalid says why a backup that runs cannot become one any more, whatever its Job does; "" where it can. The names of the
// members belong to the next cluster of the same name as soon as there is one, so a Job may have read its data. Members
// that were backed up by different engines or images are no backup that one engine could restore.
func (s situation) invalid() string {
	cluster, is := s.Cluster, s.backup.Status
	switch {
	case cluster == nil, string(cluster.UID) != is.ClusterUID:
		return fmt.Sprintf("DatabaseCluster %s with UID %s no longer exists. Do not restore from %s: it may hold data of another cluster of that name. "+
			"Delete this DatabaseBackup to delete it", s.backup.Spec.Cluster, is.ClusterUID, is.Location)
	case len(is.Streams) > 0 && s.mixed():
		return fmt.Sprintf("members of DatabaseCluster %s run different images since %d of %d members were backed up with engine %q and image %q",
			cluster.Name, len(is.Streams), is.Replicas, is.Engine, is.Image)
	case len(is.Streams) > 0 && s.changed:
		return fmt.Sprintf("DatabaseCluster %s changed from engine %q and image %q to engine %q and image %q when %d of %d members were backed up",
			cluster.Name, is.Engine, is.Image, cluster.Spec.Engine, cluster.Spec.Image, len(is.Streams), is.Replicas)
	default:
		return ""
	}
}

// differs tells whether a cluster has another engine or image than the backup was begun with.
func differs(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Engine != backup.Status.Engine || cluster.Spec.Image != backup.Status.Image
}

// Since are the engine and the image that a cluster has by now, where a complete backup was made with others; "" where not.
func Since(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) string {
	if backup.Status.Phase != dbv1.BackupCompleted || !differs(backup, cluster) {
		return ""
	}
	return fmt.Sprintf("engine %q and image %q", cluster.Spec.Engine, cluster.Spec.Image)
}

// giveUp fails a backup when its Job has stopped: the next backup starts then.
func (s situation) giveUp(p Plan) Plan {
	late := s.At.After(s.patience(s.ordinal).Add(state.Unanswered))
	for _, job := range s.Jobs {
		switch {
		case job.Component != dbv1.ComponentBackup, job.Ended(), job.Ending && late:
			continue
		case job.Ending:
			return p.running(fmt.Sprintf("waiting for Job %s and its pods to be gone: %s", job.Job, s.void)).in(waitingAgain)
		default:
			return p.running(fmt.Sprintf("stopping Job %s: %s", job.Job, s.void)).do(StopJob{Job: job})
		}
	}
	if s.Stray != "" && !late {
		return p.running(fmt.Sprintf("waiting for pod %s to end: %s", s.Stray, s.void)).in(waitingAgain)
	}
	return s.fail(p, s.void)
}
