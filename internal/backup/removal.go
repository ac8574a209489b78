/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// remove lets a backup that is being deleted go: first what still writes or reads, then the data by policy, then
// our finalizer.
func (p *Plan) remove(backup *dbv1.DatabaseBackup, observed Observed) {
	switch {
	case !held(backup):
		p.Why = "the operator has nothing left to do"
	case p.stop(backup, observed):
	case unwanted(backup) && observed.Stray != "":
		p.Why, p.Again = fmt.Sprintf("waiting for pod %s to end: somebody deleted its Job while it ran", observed.Stray), waitingAgain
	default:
		if !backup.Status.Phase.Finished() {
			p.fail(observed, "it was deleted before it was complete") // what comes next need not wait until its data is gone
		}
		p.removeData(backup, observed)
	}
}

// removeData deletes what there is by policy, once nothing writes any more.
func (p *Plan) removeData(backup *dbv1.DatabaseBackup, observed Observed) {
	job, found := observed.job(naming.BackupDeletionJob(backup.Spec.Cluster, backup.UID))
	switch {
	case !unwanted(backup):
		p.Step, p.Why = Finalize{Note: kept(backup)}, "its data is kept"
	case observed.TransferImage == "":
		p.blocked(backup, "the operator was started without --transfer-image, so it can make no Job to delete the data")
	case !found:
		p.Step, p.Why = MakeJob{Job: deletionJob(backup, observed), Deletes: true}, "deleting the data"
	case job.Ending:
		p.Why = fmt.Sprintf("waiting for Job %s to be gone", job.Job)
	case job.Succeeded:
		p.Step, p.Why = Finalize{Job: &job}, "its data is deleted"
	case resources.Outdated(job.Task, deletionJob(backup, observed)):
		p.Why = p.recreate(job)
	case !observed.failed(job, time.Duration(deletionDeadline(backup))*time.Second):
		p.Why, p.Again = p.usually(job, fmt.Sprintf("Job %s deletes the data", job.Job), ""), waitingAgain
		if observed.Missing != "" {
			p.Why += "; " + observed.Missing
		}
	case backup.Spec.DeletionPolicy == dbv1.BackupDelete:
		p.blocked(backup, fmt.Sprintf("the data at %s could not be deleted: %s. Correct that and delete Job %s to try again",
			backup.Status.Location, job.cause(), job.Job))
	default:
		p.Step = Finalize{Note: fmt.Sprintf("what there was of a backup that did not complete may still be at %s: %s", backup.Status.Location, job.cause())}
	}
}

// stop stops the Jobs that run, one by one, and waits until they are gone with their pods.
func (p *Plan) stop(backup *dbv1.DatabaseBackup, observed Observed) bool {
	for _, job := range observed.Jobs {
		deletes := job.Component == dbv1.ComponentBackupDeletion
		switch {
		case job.Ending && !deletes:
			p.Why = fmt.Sprintf("waiting for Job %s and its pods to be gone", job.Job)
		case job.Ending, job.over(), deletes && unwanted(backup):
			continue
		default:
			p.Step, p.Why = StopJob{job}, fmt.Sprintf("stopping Job %s", job.Job)
		}
		return true
	}
	return false
}

// unwanted tells whether something may be at the destination that has to go: all of an incomplete backup, and a
// complete one by policy.
func unwanted(backup *dbv1.DatabaseBackup) bool {
	s := backup.Status
	return s.Destination != nil && (s.Phase != dbv1.BackupCompleted || backup.Spec.DeletionPolicy == dbv1.BackupDelete)
}

func (p *Plan) blocked(backup *dbv1.DatabaseBackup, text string) {
	p.Why = text
	p.Stalled = &Stall{dbv1.ReasonDeletionError, fmt.Sprintf("%s; or set spec.deletionPolicy of DatabaseBackup %s to Retain to let it go and keep the data",
		text, backup.Name)}
	if backup.Spec.DeletionPolicy != dbv1.BackupDelete {
		p.Stalled, p.Step = nil, Finalize{Note: fmt.Sprintf("what there was of a backup that did not complete may still be at %s: %s", backup.Status.Location, text)}
	}
}

// kept says where the data of a complete backup stays.
func kept(backup *dbv1.DatabaseBackup) string {
	if backup.Status.Phase != dbv1.BackupCompleted {
		return ""
	}
	return fmt.Sprintf("the data stays at %s, because spec.deletionPolicy is Retain", backup.Status.Location)
}
