/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// recreation deletes a Job so that the next pass creates it from the spec as it is now.
func recreation(task state.Task) Removal {
	return Removal{"Job", task.Job, task.UID, task.Version, "is re-created, because what it is made from has changed"}
}

// recreates deletes the Jobs that fill volumes and have to be created again from the spec as it is now.
func (r *restore) recreates(p *Plan) bool {
	var outdated []Removal
	for _, v := range r.filling() {
		if job, found := r.observed.Restore.Job(r.job(v)); found && r.replaced(v, job.Task) {
			outdated = append(outdated, recreation(job.Task))
		}
	}
	if len(outdated) > 0 {
		p.Delete, p.Why = append(p.Delete, outdated...), "deleting "+describe(outdated)
	}
	return len(outdated) > 0
}

// replaced reports whether the Job that fills a volume was made from something else than the spec says now, and none of
// its pods has started. One that has failed has no pod left that runs, so it begins again, too.
func (r *restore) replaced(v state.Volume, job state.Task) bool {
	if !r.creates() {
		return false
	}
	desired := r.desired(v)
	return resources.Outdated(job, desired) || job.Failed && !job.Ending && resources.Changed(job, desired)
}

// blocked is the stall of a restore whose Job cannot start a pod, or whose attempts fail until a human changes something.
func (r *restore) blocked() *Stall {
	for _, v := range r.filling() {
		job, found := r.observed.Restore.Job(r.job(v))
		if !found || r.replaced(v, job.Task) {
			continue
		}
		which := fmt.Sprintf("Job %s, which restores %s into PersistentVolumeClaim %s,", job.Job, r.from.URL, v.Claim)
		switch {
		case job.Blocked():
			return &Stall{dbv1.ReasonJobBlocked, fmt.Sprintf("%s cannot start: %s. %s", which, job.Cause(), job.Unblock())}
		case job.Unmet(job.Progress):
			return &Stall{dbv1.ReasonJobBlocked, fmt.Sprintf("%s cannot continue: %s", which, job.Cause())}
		}
	}
	return nil
}

// recreateHook lets the Job of a hook be created again from the spec as it is now, if none of its pods has started.
// While the engine is not known, nothing can be compared.
func recreateHook(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook, task state.Task) bool {
	return engineKnown(cluster, observed) && resources.Outdated(task, resources.HookJob(cluster, hook))
}
