/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// situation is what a pass decides from: the backup, what was observed, and what follows from both. It is computed once.
type situation struct {
	Observed
	backup *dbv1.DatabaseBackup
	// held is true where the backup has the operator's finalizer.
	held bool
	// destination is what the specs name now, place where the data is or will be; nil while that is not known.
	destination, place *dbv1.BackupDestination
	// deadline is how long the backup of each member may take, proofDeadline its verification.
	deadline, proofDeadline time.Duration
	// ordinal is the first member that is not backed up yet; left is false when all are.
	ordinal int32
	left    bool
	// changed is true where a member has another engine or image than the backup was begun with.
	changed bool
	// void says why a backup that runs cannot become one any more; "" where it can.
	void string
}

func situationOf(backup *dbv1.DatabaseBackup, observed Observed) situation {
	s := situation{
		Observed: observed, backup: backup, held: state.Holds(backup),
		destination:   destination(backup, observed.Cluster),
		place:         Place(backup, observed.Cluster),
		deadline:      resources.ActionKindOf(dbv1.ComponentBackup).Deadline(observed.Cluster),
		proofDeadline: resources.ActionKindOf(dbv1.ComponentVerification).Deadline(observed.Cluster),
	}
	s.ordinal, s.left = next(backup.Status)
	s.changed = observed.Cluster != nil && (differs(backup, observed.Cluster) || observed.mixed())
	s.void = s.invalid()
	return s
}

// Begun tells whether everything is noted that the backup needs: a status that somebody else wrote may lack some.
func Begun(s dbv1.DatabaseBackupStatus) bool {
	return s.Destination != nil && s.Location != "" && s.ClusterUID != "" && s.Replicas > 0 && s.StartTime != nil
}

// Idle tells whether nothing is to be done for a backup, nor will be until somebody changes it.
func Idle(backup *dbv1.DatabaseBackup) bool {
	v, asked := backup.Status.Verification, request(backup)
	proving := Verifying(backup) || asked != "" && (v == nil || v.Request != asked)
	proving = proving && backup.Status.Phase == dbv1.BackupCompleted
	return backup.Status.Phase.Finished() && backup.DeletionTimestamp == nil && !proving
}

// Verifying tells whether a verification of a backup runs.
func Verifying(backup *dbv1.DatabaseBackup) bool {
	return verifying(backup.Status) == dbv1.VerificationRunning
}

func verifying(status dbv1.DatabaseBackupStatus) dbv1.VerificationPhase {
	if status.Verification == nil {
		return ""
	}
	return status.Verification.Phase
}

// request is what asks for a verification; "" when nothing does.
func request(backup *dbv1.DatabaseBackup) string { return state.BackupOf(backup).Asked }

// Place is where the data of the backup is, or will be; nil while that is not known.
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

// next is the first member that is not backed up yet; ok is false when all are.
func next(status dbv1.DatabaseBackupStatus) (ordinal int32, ok bool) {
	for ordinal := range status.Replicas {
		if !slices.ContainsFunc(status.Streams, func(s dbv1.BackupStream) bool { return s.Ordinal == ordinal }) {
			return ordinal, true
		}
	}
	return 0, false
}

// patience is until when a member's backup has to have started: what one member does not use of its time the next
// may.
func (s situation) patience(ordinal int32) time.Time {
	since := s.Turn
	if s.backup.Status.StartTime != nil {
		since = s.backup.Status.StartTime.Time
	}
	return since.Add(s.deadline * time.Duration(ordinal+1))
}

// waited tells whether a member has been waited for too long. While another goes first nothing is waited for but that,
// which has a deadline of its own.
func (s situation) waited(ordinal int32) bool {
	return s.Before == "" && s.At.After(s.patience(ordinal))
}
