/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Stop stops a restore in a cluster that is being deleted, before any other use of the volumes.
func Stop(s *situation.Situation) phase.Outcome { return stopJobs(s, dbv1.ReasonTerminating, nil) }

// Abandon stops a restore into volumes that no DatabaseRestore asks for any more.
func Abandon(s *situation.Situation) phase.Outcome { return stopJobs(s, dbv1.ReasonRestoring, nil) }

// stopJobs deletes the Jobs of restores, except those with these names. It waits until they and their pods no longer exist. A Job
// is deleted after its pods; if another client deleted a Job, its pods may still run.
func stopJobs(s *situation.Situation, reason string, but []string) phase.Outcome {
	counts, waits := map[types.UID]bool{}, ""
	var all []operation.Removal
	for _, job := range s.Restore.Jobs {
		switch {
		case slices.Contains(but, job.Name):
			counts[job.UID] = true
		case job.Ending:
			waits = "Job " + job.Name
		case !job.Succeeded && !job.Failed:
			all = append(all, operation.JobOf(job).Because("its restore is no longer needed"))
		}
	}
	if pod := stray(s, counts); pod != "" {
		waits = "pod " + pod
	}
	switch {
	case len(all) > 0:
		return phase.Do(reason, "stopping "+operation.Describe(all), operation.Deletion(all...)...)
	case waits != "":
		return phase.Wait(reason, fmt.Sprintf("waiting for %s to terminate, because its restore is no longer needed", waits))
	}
	return phase.Over
}

// stray returns a pod that may still write into a volume although its Job no longer counts; "" for none.
func stray(s *situation.Situation, counts map[types.UID]bool) string {
	for _, pod := range s.Bystanders {
		restores := pod.Cluster == s.Cluster.UID && pod.Component == dbv1.ComponentRestore
		if restores && !pod.Ended && !counts[pod.Job] {
			return pod.Name
		}
	}
	return ""
}
