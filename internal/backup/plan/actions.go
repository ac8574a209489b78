/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// The kinds of the actions of a backup.
var (
	backupAction = jobs.ActionKind{
		Component: dbv1.ComponentBackup, Retries: 6, Deadline: backupDeadline, Resources: jobs.BackupResources, Connects: true,
	}
	// verificationAction has few attempts: each one that fails keeps its volume until the verification has finished. A copy must not reach
	// the members of the database that it is a copy of.
	verificationAction = jobs.ActionKind{
		Component: dbv1.ComponentVerification, Retries: 2, Deadline: verificationDeadline, Resources: jobs.BackupResources,
	}
	// A destination may be unreachable for a week before the user must act.
	deletionAction = jobs.ActionKind{
		Component: dbv1.ComponentBackupDeletion, Retries: 6, Deadline: jobs.Within(7 * 24 * time.Hour), Resources: jobs.BackupResources,
	}
)

// FieldOfResources is the field that sets the resources of a backup's Jobs: all have the same one.
func FieldOfResources(cluster *dbv1.DatabaseCluster) string {
	return backupAction.FieldOfResources(cluster)
}

// WritesLog reports whether the log of a running Job has progress or an answer. The log of a copy is read even if another container has a
// problem.
func WritesLog(job jobs.Job) bool {
	switch job.Component {
	case dbv1.ComponentBackup:
		return job.Problem == ""
	case dbv1.ComponentVerification:
		return job.Started
	default:
		return false
	}
}

const halfDay = 12 * time.Hour

func backupDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	if cluster == nil || cluster.Spec.Backup == nil {
		return halfDay
	}
	return secondsOr(cluster.Spec.Backup.DeadlineSeconds, halfDay)
}

func verificationDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	if cluster == nil || cluster.Spec.Backup == nil || cluster.Spec.Backup.Verification == nil {
		return halfDay
	}
	return secondsOr(cluster.Spec.Backup.Verification.DeadlineSeconds, halfDay)
}

func secondsOr(seconds int64, otherwise time.Duration) time.Duration {
	if seconds <= 0 {
		return otherwise
	}
	return time.Duration(seconds) * time.Second
}
