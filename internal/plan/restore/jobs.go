/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// fill is a volume that this restore fills, with the next step of its Job.
type fill struct {
	state.Volume
	jobs.Result
}

// judge returns the restore with the next steps of its Jobs.
func (r restore) judge() restore {
	for _, v := range r.Filling() {
		task, found := r.Restore.Job(r.job(v))
		policy := resources.RestoreAction.Policy(r.Cluster)
		if state.Replaces(r.Cluster) {
			policy.Supersede = jobs.SupersedeRetried
		}
		if r.creates() && !r.tooLate(v) {
			policy.Desired = []objects.Child{r.desired(v)}
		}
		r.fills = append(r.fills, fill{v, jobs.Run(policy, task, found, r.At)})
	}
	return r
}

// recreate deletes the Jobs that have to be re-created from the current spec.
func (r restore) recreate() phase.Outcome {
	var outdated []operation.Removal
	for _, f := range r.fills {
		if f.Step == jobs.Recreate {
			outdated = append(outdated, operation.Recreation(f.Job))
		}
	}
	if len(outdated) == 0 {
		return phase.Over
	}
	return do("deleting "+operation.Describe(outdated), operation.Deletion(outdated...)...)
}

// failure describes the failed Job and the remedy.
func (r restore) failure() string {
	for _, f := range r.fills {
		if f.Step == jobs.Failed {
			if r.Initializes {
				return fmt.Sprintf("the first data could not be created in PersistentVolumeClaim %s: %s. See kubectl logs job/%s. A correction of "+
					"the spec restarts the Job. After any other correction, delete the Job",
					f.Claim, strings.TrimSuffix(f.Job.Cause(), "."), f.Job.Name)
			}
			return fmt.Sprintf(
				"the restore of %s into PersistentVolumeClaim %s failed: %s. See kubectl logs job/%s. Correct the spec or name another backup in "+
					"%s; this restarts the restore. After any other correction, delete the Job",
				r.From.URL, f.Claim, strings.TrimSuffix(f.Job.Cause(), "."), f.Job.Name, state.SourceField(r.Cluster, ""))
		}
	}
	return ""
}

// blocked is the stall of a restore whose Job cannot start a pod, does not end, or fails until the user acts.
func (r restore) blocked() *situation.Stall {
	for _, f := range r.fills {
		which := fmt.Sprintf("Job %s, which restores %s into PersistentVolumeClaim %s,", f.Job.Name, r.Source(), f.Claim)
		if r.Initializes {
			which = fmt.Sprintf("Job %s, which creates the first data in PersistentVolumeClaim %s,", f.Job.Name, f.Claim)
		}
		if stall := obstructed(f.Result, which); stall != nil {
			return stall
		}
	}
	return nil
}

// obstructed is the stall of a Job that cannot start a pod, does not end, or fails until the user acts; nil for none.
func obstructed(r jobs.Result, which string) *situation.Stall {
	blocked := func(format string, arguments ...any) *situation.Stall {
		return &situation.Stall{Reason: dbv1.ReasonJobBlocked, Message: which + " " + fmt.Sprintf(format, arguments...)}
	}
	switch {
	case r.Trouble == jobs.Blocked:
		return blocked("cannot start: %s. %s", r.Cause, r.Job.Unblock())
	case r.Trouble == jobs.Unmet:
		return blocked("fails until you correct this: %s", r.Cause)
	case r.Step == jobs.Lost: // its pod may still write
		return blocked("does not end: %s. Recover the node of the pod, or delete the Node object if the node is lost", r.Cause)
	}
	return nil
}
