/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a DatabaseBackup. It uses values only.
package plan

import (
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// BackupPlan is what a pass does for a DatabaseBackup. It is a value: tests compare it.
type BackupPlan struct {
	operation.Agenda
	// Status is the status of the backup, without the conditions.
	Status dbv1.DatabaseBackupStatus
	// Trouble is a problem of a Job that is retried; "" for none.
	Trouble string
	// Stalled is the problem that the user must correct; nil for none.
	Stalled *BackupStall
	// Recorded is true if the status changes in a way that is unsafe to decide on a stale cache.
	Recorded bool
}

// BackupStall is a reason of the Stalled condition, or of DeletionBlocked, with a message about the correction.
type BackupStall struct {
	Reason, Message string
}

const (
	// progressRequeueAfter is the interval at which the progress of a running Job is read.
	progressRequeueAfter = 5 * time.Second
	// waitRequeueAfter is the interval at which preconditions of a backup are checked: not all of them are watched.
	waitRequeueAfter = 10 * time.Second
)

// For decides what to do for a backup. A deletion has priority. The phase of a finished backup does not change, but
// it can be verified.
func For(backup *dbv1.DatabaseBackup, observed BackupFacts) BackupPlan {
	s := situationOf(backup, observed)
	p := BackupPlan{Status: *backup.Status.DeepCopy()}
	switch {
	case backup.DeletionTimestamp != nil:
		p = s.remove(p)
	case backup.Status.Phase == dbv1.BackupFailed:
	case backup.Status.Phase == dbv1.BackupCompleted:
		p = s.verification(p)
	case !Begun(backup.Status):
		p = s.begin(p)
	default:
		p = s.run(p)
	}
	p.Recorded = recorded(backup.Status, p.Status)
	return p
}

// recorded reports whether a status changes in a way that is unsafe to decide on a stale cache. Waiting is safe.
func recorded(before, after dbv1.DatabaseBackupStatus) bool {
	first := before.Phase == "" && after.Phase == dbv1.BackupPending
	return after.Phase != before.Phase && !first || len(after.Streams) != len(before.Streams) || verifying(after) != verifying(before)
}

// LiveRead reports whether the plan must be decided by a live read from the API server.
func (p BackupPlan) LiveRead() bool { return p.Recorded || p.Agenda.LiveRead() }

// do adds operations.
func (p BackupPlan) do(all ...operation.Operation) BackupPlan {
	p.Operations = append(p.Operations, all...)
	return p
}

// because sets the current action, or what the pass waits for.
func (p BackupPlan) because(text string) BackupPlan {
	p.Why = text
	return p
}

// in requeues after a delay.
func (p BackupPlan) in(after time.Duration) BackupPlan {
	p.RequeueAfter = after
	return p
}

// stalled records a problem that the user must correct.
func (p BackupPlan) stalled(reason, text string) BackupPlan {
	p.Stalled = &BackupStall{reason, text}
	return p
}

// running sets the message of a running backup.
func (p BackupPlan) running(text string) BackupPlan {
	p.Status.Message = text
	return p.because(text)
}

// verifying sets the message of a running verification.
func (p BackupPlan) verifying(text string) BackupPlan {
	p.Status.Verification.Message = text
	return p.because(text)
}

// withTrouble adds the problem of an unfinished action.
func (p BackupPlan) withTrouble(r jobs.Result) BackupPlan {
	switch r.Trouble {
	case jobs.Blocked:
		return p.stalled(dbv1.ReasonJobBlocked, r.Message)
	case jobs.Unmet, jobs.Retried:
		if r.Cause != "" {
			p.Trouble = r.Message
		}
	case jobs.NoTrouble, jobs.Failing:
	}
	return p
}
