/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// memberOutdated reports whether the Job of a member has to be created again from the DatabaseCluster as it is now. How
// the member is reached is decided when its Job is created, so a Job of either way is up to date.
func memberOutdated(backup *dbv1.DatabaseBackup, observed Observed, job Job, ordinal int32) bool {
	cluster := observed.Cluster
	known := cluster != nil && string(cluster.UID) == backup.Status.ClusterUID && observed.TransferImage != "" && engineProblem(observed) == ""
	return known &&
		resources.Outdated(job.Task, backupJob(backup, observed, ordinal, false)) &&
		resources.Outdated(job.Task, backupJob(backup, observed, ordinal, true))
}

// recreate deletes a Job; a later pass creates it again. It returns the reason.
func (p *Plan) recreate(job Job) string {
	p.Step = StopJob{job}
	return fmt.Sprintf("deleting Job %s, none of whose pods has started, to create it again: what it is made from has changed", job.Job)
}

// unmet notes that the attempts of a Job fail until a human changes something.
func (p *Plan) unmet(observed Observed, job Job) {
	if job.Unmet(observed.Progress) && p.Stalled == nil {
		p.stall(dbv1.ReasonJobBlocked, fmt.Sprintf("Job %s cannot continue: %s", job.Job, job.Cause()))
	}
}

// missing notes a Secret or claim without which a pod of a Job cannot start: the pod says nothing of it.
func (p *Plan) missing(observed Observed, job Job) {
	if observed.Missing == "" || job.Started || p.Stalled != nil {
		return
	}
	p.running(p.stall(dbv1.ReasonReferenceMissing, fmt.Sprintf("Job %s cannot start: %s", job.Job, observed.Missing)))
}
