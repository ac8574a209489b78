/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// situation is the input of a decision: the backup, the observed facts, and values derived from both. It is
// computed once.
type situation struct {
	BackupFacts
	backup *dbv1.DatabaseBackup
	// hasFinalizer is true if the backup has the operator's finalizer.
	hasFinalizer bool
	// destination is the destination in the specs now, place the location of the data; nil if unknown.
	destination, place *dbv1.BackupDestination
	// ordinal is the first member that is not backed up yet; left is false if all are.
	ordinal int32
	left    bool
	// changed is true if a member has another engine or image than the backup recorded.
	changed bool
	// invalidReason reports why a running backup can no longer be valid; "" if it can.
	invalidReason string
}

func situationOf(backup *dbv1.DatabaseBackup, observed BackupFacts) situation {
	s := situation{
		BackupFacts: observed, backup: backup, hasFinalizer: state.HasFinalizer(backup),
		destination: destination(backup, observed.Cluster),
		place:       Place(backup, observed.Cluster),
	}
	s.ordinal, s.left = next(backup.Status)
	s.changed = observed.Cluster != nil && (differs(backup, observed.Cluster) || observed.mixed())
	s.invalidReason = s.invalid()
	return s
}

// Begun reports whether the status has all the data that the backup needs. A status of another writer may lack
// some.
func Begun(s dbv1.DatabaseBackupStatus) bool {
	return s.Destination != nil && s.Location != "" && s.ClusterUID != "" && s.Replicas > 0 && s.StartTime != nil
}

// Idle reports whether there is nothing to do for a backup until a user changes it.
func Idle(backup *dbv1.DatabaseBackup) bool {
	v, asked := backup.Status.Verification, request(backup)
	proving := Verifying(backup) || asked != "" && (v == nil || v.Request != asked)
	proving = proving && backup.Status.Phase == dbv1.BackupCompleted
	return backup.Status.Phase.Finished() && backup.DeletionTimestamp == nil && !proving
}

// Verifying reports whether a verification of a backup is running.
func Verifying(backup *dbv1.DatabaseBackup) bool {
	return verifying(backup.Status) == dbv1.VerificationRunning
}

func verifying(status dbv1.DatabaseBackupStatus) dbv1.BackupVerificationPhase {
	if status.Verification == nil {
		return ""
	}
	return status.Verification.Phase
}

// request identifies the requested verification; "" for none.
func request(backup *dbv1.DatabaseBackup) string { return state.BackupOf(backup).Asked }

// Place is the location of the backup's data; nil if unknown.
func Place(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) *dbv1.BackupDestination {
	if backup.Status.Destination != nil {
		return backup.Status.Destination
	}
	return destination(backup, cluster)
}

func destination(backup *dbv1.DatabaseBackup, cluster *dbv1.DatabaseCluster) *dbv1.BackupDestination {
	switch {
	case backup.Spec.Destination != nil:
		return backup.Spec.Destination
	case cluster != nil && cluster.Spec.Backup != nil:
		return &cluster.Spec.Backup.Destination
	default:
		return nil
	}
}

// Next is the next member whose data a running backup reads; ok is false if there is none.
func Next(backup *dbv1.DatabaseBackup) (ordinal int32, ok bool) {
	if backup.Status.Phase != dbv1.BackupRunning || backup.DeletionTimestamp != nil {
		return 0, false
	}
	return next(backup.Status)
}

// next is the first member that is not backed up yet; ok is false if all are.
func next(status dbv1.DatabaseBackupStatus) (ordinal int32, ok bool) {
	for ordinal := range status.Replicas {
		if !slices.ContainsFunc(status.Streams, func(s dbv1.BackupStream) bool { return s.Ordinal == ordinal }) {
			return ordinal, true
		}
	}
	return 0, false
}

// startDeadline is the time by which a member's backup must start. Time that one member does not use is available to the
// next.
func (s situation) startDeadline(ordinal int32) time.Time {
	since := s.FirstSince
	if s.backup.Status.StartTime != nil {
		since = s.backup.Status.StartTime.Time
	}
	return since.Add(backupAction.Deadline(s.Cluster) * time.Duration(ordinal+1))
}

// waited reports whether the wait for a member has exceeded its limit. While another backup precedes this one, only
// the deadline of that backup counts.
func (s situation) waited(ordinal int32) bool {
	return s.Predecessor == "" && s.At.After(s.startDeadline(ordinal))
}
