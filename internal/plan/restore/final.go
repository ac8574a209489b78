/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"fmt"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Failure is why a restore that replaces the data of a cluster has failed; "" if it has not, and for any other restore. It is final,
// because the members continue: the same restore would discard what clients have written since. The status remembers it when Kubernetes
// deletes the Job, or when another number of members needs another restore.
func Failure(s *situation.Situation) string {
	if !state.Replaces(s.Cluster) {
		return ""
	}
	if remembered := s.Cluster.Status.Replacement.Failure; remembered != "" {
		return remembered
	}
	r, left := of(s)
	if !left {
		return ""
	}
	for _, v := range state.Only(r.Restoration.Own, state.Volume.IsFilling) {
		switch job, found := r.Restore.Job(r.job(v)); {
		case found && job.Failed:
			return fmt.Sprintf("the restore into PersistentVolumeClaim %s failed: %s. Kubernetes keeps the log of Job %s for %d days", v.Claim,
				strings.TrimSuffix(job.Cause(), "."), job.Name, int(jobs.Kept.Hours()/24))
		case !found && r.tooLate(v):
			return fmt.Sprintf("no Job restores into PersistentVolumeClaim %s, which was created at %s: Kubernetes may have deleted a Job that "+
				"failed", v.Claim, v.Created.UTC().Format(time.RFC3339))
		}
	}
	return ""
}

// clocks is by how much that of the operator may be behind that of Kubernetes.
const clocks = 24 * time.Hour

// tooLate reports whether Kubernetes may have deleted a Job that has filled a volume, so that its result is unknown. Only a restore that
// replaces data is not repeated then.
func (r restore) tooLate(v state.Volume) bool {
	return state.Replaces(r.Cluster) && !v.Created.IsZero() && r.At.Sub(v.Created.Time) >= jobs.Kept-clocks
}
