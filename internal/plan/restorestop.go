/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// stopRestore ends a restore in a cluster that is deleted, before anything else touches the volumes.
func stopRestore(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	stops := stopJobs(p, cluster, observed, nil)
	if stops {
		p.Reason = dbv1.ReasonStopping
	}
	return stops && cluster.Annotations[dbv1.AnnotationSkipDeletionHooks] != "true"
}

// stopJobs deletes the Jobs that fill volumes, but for those with these names, and waits until none of their pods runs
// any more. A Job goes after its pods; the pods of one that somebody else deleted may still be there.
func stopJobs(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed, but []string) bool {
	counts := map[types.UID]bool{}
	for _, job := range observed.Restore.Jobs {
		switch {
		case slices.Contains(but, job.Job):
			counts[job.UID] = true
		case !job.Ending && !job.Succeeded && !job.Failed:
			p.Delete = append(p.Delete, Removal{"Job", job.Job, job.UID, job.Version, "nothing is to be restored by it any more"})
		}
	}
	pod := stray(cluster, observed, counts)
	switch {
	case len(p.Delete) > 0:
		p.Why = "stopping " + describe(p.Delete)
	case pod != "":
		p.Why = fmt.Sprintf("waiting for pod %s to end, which restored what is not wanted any more", pod)
	}
	return len(p.Delete) > 0 || pod != ""
}

// stray is a pod that may still write into a volume although the Job that made it counts no more; "" for none.
func stray(cluster *dbv1.DatabaseCluster, observed state.Observed, counts map[types.UID]bool) string {
	for _, pod := range observed.Bystanders {
		restores := pod.Cluster == cluster.UID && pod.Component == dbv1.ComponentRestore
		if restores && !pod.Ended && !counts[pod.Job] {
			return pod.Name
		}
	}
	return ""
}
