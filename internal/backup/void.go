/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// void says why a backup that runs cannot become one any more, whatever its Job does; "" where it can. The names of the
// members belong to the next cluster of the same name as soon as there is one, so a Job may have read its data. Members
// that were backed up by different engines or images are no backup that one engine could restore.
func void(backup *dbv1.DatabaseBackup, observed Observed) string {
	cluster, s := observed.Cluster, backup.Status
	switch {
	case cluster == nil, string(cluster.UID) != s.ClusterUID:
		return fmt.Sprintf("DatabaseCluster %s with UID %s no longer exists. Do not restore from %s: it may hold data of another cluster of that name. "+
			"Delete this DatabaseBackup to delete it", backup.Spec.Cluster, s.ClusterUID, s.Location)
	case len(s.Streams) > 0 && observed.mixed():
		return fmt.Sprintf("members of DatabaseCluster %s run different images since %d of %d members were backed up with engine %q and image %q",
			cluster.Name, len(s.Streams), s.Members, s.Engine, s.Image)
	case len(s.Streams) > 0 && differs(backup, observed):
		return fmt.Sprintf("DatabaseCluster %s changed from engine %q and image %q to engine %q and image %q when %d of %d members were backed up",
			cluster.Name, s.Engine, s.Image, cluster.Spec.Engine, cluster.Spec.Image, len(s.Streams), s.Members)
	default:
		return ""
	}
}

// differs tells whether a member has another engine or image than the backup was begun with.
func differs(backup *dbv1.DatabaseBackup, observed Observed) bool {
	spec := observed.Cluster.Spec
	return spec.Engine != backup.Status.Engine || spec.Image != backup.Status.Image || observed.mixed()
}

// giveUp fails a backup when its Job has stopped: the next backup starts then.
func (p *Plan) giveUp(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32, why string) {
	late := observed.At.After(patience(backup, observed, ordinal).Add(state.Unanswered))
	for _, job := range observed.Jobs {
		switch {
		case job.Component != dbv1.ComponentBackup, job.over(), job.Ending && late:
			continue
		case job.Ending:
			p.running(fmt.Sprintf("waiting for Job %s and its pods to be gone: %s", job.Job, why))
			p.Again = waitingAgain
		default:
			p.Step = StopJob{job}
			p.running(fmt.Sprintf("stopping Job %s: %s", job.Job, why))
		}
		return
	}
	if observed.Stray != "" && !late {
		p.running(fmt.Sprintf("waiting for pod %s to end: %s", observed.Stray, why))
		p.Again = waitingAgain
		return
	}
	p.fail(observed, why)
}
