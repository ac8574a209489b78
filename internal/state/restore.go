/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// ObservedRestore is the observed state of a restore into the volumes of a cluster. It is read while there are no members, and in a
// deletion.
type ObservedRestore struct {
	// Backup is the DatabaseBackup that the spec names; nil if it names none, or one that does not exist.
	Backup *dbv1.DatabaseBackup
	// Missing is the Secret or claim that the backup needs, if it does not exist.
	Missing []Ref
	// Jobs fill volumes, including those of a source that the spec no longer names.
	Jobs []jobs.Job
	// Search is the Job that looks for the newest backup; nil if there is none, or if it is not needed.
	Search *jobs.Job
}

// Job returns the Job of a name that still counts; ok is false if there is none.
func (r ObservedRestore) Job(name string) (job jobs.Job, ok bool) {
	return First(r.Jobs, func(j jobs.Job) bool { return j.Name == name })
}

// FromBackup returns the backup that a cluster is to start with; nil for none. After the decision to start empty, no backup counts.
func FromBackup(cluster *dbv1.DatabaseCluster) *dbv1.BackupSource {
	if StartsEmpty(cluster) {
		return nil
	}
	return sourceIn(cluster.Spec.Bootstrap)
}

// SourceField is the field that has this backup, or one of its fields, for messages.
func SourceField(cluster *dbv1.DatabaseCluster, below string) string {
	if r := cluster.Status.Replacement; r != nil && r.RestoreRef != nil {
		return "spec.source of DatabaseRestore " + r.RestoreRef.Name
	}
	return "spec.bootstrap.fromBackup" + below
}

// RestoreProgress is the field of the status with its progress, for messages.
func RestoreProgress(cluster *dbv1.DatabaseCluster) string {
	if r := cluster.Status.Replacement; r != nil && r.RestoreRef != nil {
		return "replacement.restore"
	}
	return "restore"
}

// SourceOf returns the location of that backup; nil while it is unknown. The DatabaseBackup is the one that the spec names.
func SourceOf(cluster *dbv1.DatabaseCluster, backup *dbv1.DatabaseBackup) *dbv1.BackupDestination {
	from := FromBackup(cluster)
	switch {
	case from == nil:
		return nil
	case from.Location != nil:
		return from.Location
	case from.Newest != nil:
		return chosen(cluster)
	case backup == nil || backup.Status.Phase != dbv1.BackupCompleted || backup.Status.Destination == nil:
		return nil
	}
	source := *backup.Status.Destination
	source.URL = backup.Status.Location
	return &source
}
