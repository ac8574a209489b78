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

// stopJobs deletes the Jobs that fill volumes, but for those with these names, and waits until they and their pods are
// gone. A Job goes after its pods; those of one that somebody else deleted may still be there.
func stopJobs(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed, but []string) bool {
	counts, waits := map[types.UID]bool{}, ""
	for _, job := range observed.Restore.Jobs {
		switch {
		case slices.Contains(but, job.Job):
			counts[job.UID] = true
		case job.Ending:
			waits = "Job " + job.Job
		case !job.Succeeded && !job.Failed:
			p.Delete = append(p.Delete, Removal{"Job", job.Job, job.UID, job.Version, "what it restores is not wanted any more"})
		}
	}
	if pod := stray(cluster, observed, counts); pod != "" {
		waits = "pod " + pod
	}
	switch {
	case len(p.Delete) > 0:
		p.Why = "stopping " + describe(p.Delete)
	case waits != "":
		p.Why = fmt.Sprintf("waiting for %s to end, which restored what is not wanted any more", waits)
	}
	return len(p.Delete) > 0 || waits != ""
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
