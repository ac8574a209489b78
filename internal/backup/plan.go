/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"slices"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Plan is what a pass does for a DatabaseBackup. It is a value: tests compare it.
type Plan struct {
	// AddFinalizer says that our finalizer is missing: it goes on before the first Job is made.
	AddFinalizer bool
	// Status is how the backup stands, but for the conditions.
	Status dbv1.DatabaseBackupStatus
	// Step is the one thing to do; nil for none.
	Step Step
	// Why says what the pass does or waits for, for people.
	Why string
	// Trouble is what keeps a Job from its work that is tried again; "" for nothing.
	Trouble string
	// Stalled says what waits for a human; nil when nothing does.
	Stalled *Stall
	// Again is when to look again although nothing may change; 0 for never.
	Again time.Duration
}

// Stall is a reason of the Stalled condition, or of DeletionBlocked, with a message that says what to do.
type Stall struct {
	Reason, Message string
}

// Step is one thing to do: MakeJob, Seclude, StopJob, CleanUp or Finalize.
//
//sumtype:decl
type Step interface {
	step()
}

// MakeJob makes a Job that does not exist.
type MakeJob struct {
	Job resources.Child
	// Policy is made before it; nil for none.
	Policy *resources.Child
	// Deletes tells that it deletes the backup's data.
	Deletes bool
}

// Seclude writes the policy around copies that run.
type Seclude struct {
	Policy resources.Child
	// Live is the policy that there is; nil for none.
	Live *networkingv1.NetworkPolicy
}

// StopJob deletes a Job in the foreground: it is gone when its pods are.
type StopJob struct {
	Job Job
}

// CleanUp deletes what a verification that has ended leaves.
type CleanUp struct {
	Jobs []Job
}

// Finalize takes our finalizer off. Note is what people should hear of what stays; "" for nothing.
type Finalize struct {
	Note string
	// Job has deleted the data; nil for none. It goes last.
	Job *Job
}

func (MakeJob) step()  {}
func (Seclude) step()  {}
func (StopJob) step()  {}
func (CleanUp) step()  {}
func (Finalize) step() {}

// decide says what to do for a backup. A deletion comes first; a finished backup changes no more, but can be
// verified.
func decide(backup *dbv1.DatabaseBackup, observed Observed) Plan {
	p := Plan{Status: *backup.Status.DeepCopy()}
	switch {
	case backup.DeletionTimestamp != nil:
		p.remove(backup, observed)
	case backup.Status.Phase == dbv1.BackupFailed:
	case backup.Status.Phase == dbv1.BackupCompleted:
		p.prove(backup, observed)
	case !begun(backup.Status):
		p.begin(backup, observed)
	default:
		p.goOn(backup, observed)
	}
	return p
}

// begun tells whether everything is noted that the backup needs: a status that somebody else wrote may lack some.
func begun(s dbv1.DatabaseBackupStatus) bool {
	return s.Destination != nil && s.Location != "" && s.ClusterUID != "" && s.Members > 0 && s.StartTime != nil
}

// delicate tells whether the plan does what a view that lags behind must not lead to: it has then to be decided
// from the API server itself.
func (p *Plan) delicate(backup *dbv1.DatabaseBackup) bool {
	first := backup.Status.Phase == "" && p.Status.Phase == dbv1.BackupPending
	return p.Step != nil || p.Status.Phase != backup.Status.Phase && !first ||
		len(p.Status.Streams) != len(backup.Status.Streams) || verifying(p.Status) != verifying(backup.Status)
}

func verifying(status dbv1.DatabaseBackupStatus) dbv1.VerificationPhase {
	if status.Verification == nil {
		return ""
	}
	return status.Verification.Phase
}

func held(backup *dbv1.DatabaseBackup) bool {
	return slices.Contains(backup.Finalizers, dbv1.Finalizer)
}

const (
	// progressAgain is how often a Job that runs is asked how far it is.
	progressAgain = 5 * time.Second
	// waitingAgain is how often it is looked whether what a backup waits for is there: not all of it is watched.
	waitingAgain = 10 * time.Second
)
