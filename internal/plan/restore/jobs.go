/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// recreate deletes the Jobs that fill volumes and have to be created again from the spec as it is now.
func (r restore) recreate() phase.Outcome {
	var outdated []operation.Removal
	for _, v := range r.Filling() {
		if job, found := r.Restore.Job(r.job(v)); found && r.replaced(v, job) {
			outdated = append(outdated, operation.Recreation(job))
		}
	}
	if len(outdated) == 0 {
		return phase.Over
	}
	return do("deleting "+operation.Describe(outdated), operation.Delete{Objects: outdated})
}

// replaced reports whether the Job that fills a volume was made from something else than the spec says now, and none of
// its pods has started. One that has failed has no pod left that runs, so it begins again, too.
func (r restore) replaced(v state.Volume, job state.Task) bool {
	if !r.creates() {
		return false
	}
	desired := r.desired(v)
	return resources.Outdated(job, desired) || job.Failed && !job.Ending && resources.Changed(job, desired)
}

// blocked is the stall of a restore whose Job cannot start a pod, or whose attempts fail until a human changes something.
func (r restore) blocked() *situation.Stall {
	for _, v := range r.Filling() {
		job, found := r.Restore.Job(r.job(v))
		if !found || r.replaced(v, job) {
			continue
		}
		which := fmt.Sprintf("Job %s, which restores %s into PersistentVolumeClaim %s,", job.Job, r.From.URL, v.Claim)
		switch {
		case job.Blocked():
			return &situation.Stall{Reason: dbv1.ReasonJobBlocked, Message: fmt.Sprintf("%s cannot start: %s. %s", which, job.Cause(), job.Unblock())}
		case job.Unmet(job.Progress):
			return &situation.Stall{Reason: dbv1.ReasonJobBlocked, Message: fmt.Sprintf("%s cannot continue: %s", which, job.Cause())}
		}
	}
	return nil
}
