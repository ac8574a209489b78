/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what a pass does for a DatabaseBackup, from values alone.
package plan

import (
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/action"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Plan is what a pass does for a DatabaseBackup. It is a value: tests compare it.
type Plan struct {
	// Operations are what the pass does, in the order of execution.
	Operations operation.List
	// Status is how the backup stands, but for the conditions.
	Status dbv1.DatabaseBackupStatus
	// Why says what the pass does or waits for, for people.
	Why string
	// Trouble is what keeps a Job from its work that is tried again; "" for nothing.
	Trouble string
	// Stalled says what waits for a human; nil when nothing does.
	Stalled *Stall
	// RequeueAfter is when to look again although nothing may change; 0 for never.
	RequeueAfter time.Duration
	// Recorded is true where the status changes in a way that a stale cache must not decide.
	Recorded bool
}

// Stall is a reason of the Stalled condition, or of DeletionBlocked, with a message that says what to do.
type Stall struct {
	Reason, Message string
}

const (
	// progressAgain is how often a Job that runs is asked how far it is.
	progressAgain = 5 * time.Second
	// waitingAgain is how often it is looked whether what a backup waits for is there: not all of it is watched.
	waitingAgain = 10 * time.Second
)

// For decides what to do for a backup. A deletion comes first; a finished backup changes no more, but can be
// verified.
func For(backup *dbv1.DatabaseBackup, observed Observed) Plan {
	s := situationOf(backup, observed)
	p := Plan{Status: *backup.Status.DeepCopy()}
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

// recorded reports whether a status changes in a way that a stale cache must not decide: that a backup waits is not.
func recorded(before, after dbv1.DatabaseBackupStatus) bool {
	first := before.Phase == "" && after.Phase == dbv1.BackupPending
	return after.Phase != before.Phase && !first || len(after.Streams) != len(before.Streams) || verifying(after) != verifying(before)
}

// LiveRead reports whether the plan has to be decided from the API server itself.
func (p Plan) LiveRead() bool { return p.Recorded || p.Operations.Need(operation.LiveRead) }

// Work returns the operations in the order of execution, and what they are for.
func (p Plan) Work() (all operation.List, why string) { return p.Operations, p.Why }

// do adds operations.
func (p Plan) do(all ...operation.Operation) Plan {
	p.Operations = append(p.Operations, all...)
	return p
}

// because says what the pass does or waits for.
func (p Plan) because(text string) Plan {
	p.Why = text
	return p
}

// in looks again after a while.
func (p Plan) in(after time.Duration) Plan {
	p.RequeueAfter = after
	return p
}

// stalled notes what waits for a human.
func (p Plan) stalled(reason, text string) Plan {
	p.Stalled = &Stall{reason, text}
	return p
}

// running says what a backup that runs does or waits for.
func (p Plan) running(text string) Plan {
	p.Status.Message = text
	return p.because(text)
}

// verifying says what a verification that runs does or waits for.
func (p Plan) verifying(text string) Plan {
	p.Status.Verification.Message = text
	return p.because(text)
}

// tell adds what is wrong with an action that has not ended, in a sentence.
func (p Plan) tell(v action.Verdict, sentence string) Plan {
	switch v.Standing {
	case action.Blocked:
		return p.stalled(dbv1.ReasonJobBlocked, sentence)
	case action.Unmet, action.Retrying:
		if v.Cause != "" {
			p.Trouble = sentence
		}
	case action.Absent, action.Terminating, action.Superseded, action.Succeeded, action.Failed, action.Lost, action.Failing, action.Running:
	}
	return p
}
