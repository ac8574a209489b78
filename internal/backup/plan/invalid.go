/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// invalid reports why a running backup can no longer be valid, whatever its Job does; "" if it can.
//
// A new cluster of the same name uses the same member names, so a Job may have read its data. If different engines
// or images wrote the members' data, no engine could restore the backup.
func (s situation) invalid() string {
	cluster, is := s.Cluster, s.backup.Status
	switch {
	case cluster == nil, string(cluster.UID) != is.ClusterUID:
		return fmt.Sprintf(
			"DatabaseCluster %s with UID %s no longer exists. Do not restore from %s: it may contain data of another cluster of the same name. "+
				"Delete this DatabaseBackup to delete that data", s.backup.Spec.Cluster, is.ClusterUID, is.Location)
	case templateOf(cluster) != is.VolumeClaimTemplate:
		return fmt.Sprintf("a DatabaseRestore has replaced the data of DatabaseCluster %s since the backup started", cluster.Name)
	case len(is.Streams) > 0 && s.mixed():
		return fmt.Sprintf("members of DatabaseCluster %s run different images since %d of %d members were backed up with engine %q and image %q",
			cluster.Name, len(is.Streams), is.Replicas, is.Engine, is.Image)
	case len(is.Streams) > 0 && s.changed:
		return fmt.Sprintf(
			"DatabaseCluster %s changed from engine %q and image %q to engine %q and image %q when %d of %d members were backed up",
			cluster.Name, is.Engine, is.Image, cluster.Spec.Engine, cluster.Spec.Image, len(is.Streams), is.Replicas)
	default:
		return ""
	}
}

// templateOf is the volumeClaimTemplate of a cluster whose data was replaced; "" for its first volumes.
func templateOf(cluster *dbv1.DatabaseCluster) string {
	if template := naming.ClaimTemplate(cluster); template != naming.DataVolume {
		return template
	}
	return ""
}

// differs reports whether a cluster has another engine or image than the backup recorded at its start.
func differs(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Engine != backup.Status.Engine || cluster.Spec.Image != backup.Status.Image
}

// Since are the current engine and image of a cluster if a complete backup used others; "" if they are equal.
func Since(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) string {
	if backup.Status.Phase != dbv1.BackupCompleted || !differs(backup, cluster) {
		return ""
	}
	return fmt.Sprintf("engine %q and image %q", cluster.Spec.Engine, cluster.Spec.Image)
}

// giveUp fails a backup when its Job has stopped. Then the next backup starts.
func (s situation) giveUp(p BackupPlan) BackupPlan {
	late := s.At.After(s.startDeadline(s.ordinal).Add(jobs.Unanswered))
	for _, job := range s.Jobs {
		switch {
		case job.Component != dbv1.ComponentBackup, job.Ended(), job.Ending && late:
			continue
		case job.Ending:
			return p.running(fmt.Sprintf("waiting for Job %s and its pods to be deleted: %s", job.Name, s.invalidReason)).in(waitRequeueAfter)
		default:
			return p.running(fmt.Sprintf("stopping Job %s: %s", job.Name, s.invalidReason)).do(stop(job))
		}
	}
	if s.Stray != "" && !late {
		return p.running(fmt.Sprintf("waiting for pod %s to terminate: %s", s.Stray, s.invalidReason)).in(waitRequeueAfter)
	}
	return s.fail(p, s.invalidReason)
}
