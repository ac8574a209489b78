/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Restore is what was read of the restore of a backup into the volumes of a cluster; read while there are no members,
// and in a deletion.
type Restore struct {
	// Backup is the DatabaseBackup that the spec names; nil when it names none, or one that does not exist.
	Backup *dbv1.DatabaseBackup
	// Missing are the Secret or claim by which the backup is reached, where they do not exist.
	Missing []Ref
	// Jobs fill volumes; those of a source that is wanted no more, too.
	Jobs []Task
}

// Job is the Job of a name that still counts; ok is false when there is none.
func (r Restore) Job(name string) (job Task, ok bool) {
	return First(r.Jobs, func(j Task) bool { return j.Job == name })
}

// FromBackup is the backup that a cluster is to start with; nil for none.
func FromBackup(cluster *dbv1.DatabaseCluster) *dbv1.BackupSource {
	if cluster.Spec.Bootstrap == nil {
		return nil
	}
	return cluster.Spec.Bootstrap.FromBackup
}

// SourceOf is where that backup is; nil while that is not known. The DatabaseBackup is the one that the spec names.
func SourceOf(cluster *dbv1.DatabaseCluster, backup *dbv1.DatabaseBackup) *dbv1.BackupDestination {
	from := FromBackup(cluster)
	switch {
	case from == nil:
		return nil
	case from.Location != nil:
		return from.Location
	case backup == nil || backup.Status.Phase != dbv1.BackupCompleted || backup.Status.Destination == nil:
		return nil
	}
	source := *backup.Status.Destination
	source.URL = backup.Status.Location
	return &source
}
