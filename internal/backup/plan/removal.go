/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/action"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// remove lets a backup that is being deleted go: first what still writes or reads, then the data by policy, then
// our finalizer.
func (s situation) remove(p Plan) Plan {
	if !s.held {
		return p.because("the operator has nothing left to do")
	}
	if stopped, stops := s.stop(p); stops {
		return stopped
	}
	if s.unwanted() && s.Stray != "" {
		return p.because(fmt.Sprintf("waiting for pod %s to end: somebody deleted its Job while it ran", s.Stray)).in(waitingAgain)
	}
	if !s.backup.Status.Phase.Finished() {
		p = s.fail(p, "it was deleted before it was complete") // what comes next need not wait until its data is gone
	}
	switch {
	case !s.unwanted():
		return p.because("its data is kept").do(Finalize{Note: kept(s.backup)})
	case s.TransferImage == "":
		return s.blocked(p, "the operator was started without --transfer-image, so it can make no Job to delete the data")
	default:
		return s.removeData(p)
	}
}

// removeData deletes what there is by policy, once nothing writes any more.
func (s situation) removeData(p Plan) Plan {
	name, desired := naming.BackupDeletionJob(s.backup.Spec.Cluster, s.backup.UID), s.deletionJob()
	v := s.judge(name, action.Expected{Desired: []resources.Child{desired}, Deadline: s.deletionDeadline()})
	switch v.Standing {
	case action.Absent:
		return p.because("deleting the data").do(CreateJob{Job: desired, Deletes: true})
	case action.Terminating:
		return p.because(fmt.Sprintf("waiting for Job %s to be gone", name))
	case action.Succeeded:
		// The Job goes last: without it a repeat would only find that there is nothing left to delete.
		return p.because("its data is deleted").do(Finalize{}, DeleteJob{v.Task})
	case action.Superseded:
		return p.because(recreates(v.Task)).do(StopJob{Job: v.Task})
	case action.Failed, action.Lost:
		return s.undeleted(p, v)
	case action.Blocked, action.Failing, action.Unmet, action.Retrying, action.Running:
	}
	text := v.Sentence(fmt.Sprintf("Job %s deletes the data", name), "")
	p = p.tell(v, text)
	if s.Missing != "" {
		text += "; " + s.Missing
	}
	return p.because(text).in(waitingAgain)
}

// undeleted is a deletion of data that has failed. What is left of a backup that did not complete holds nobody up.
func (s situation) undeleted(p Plan, v action.Verdict) Plan {
	if s.backup.Spec.DeletionPolicy != dbv1.BackupDelete {
		return s.letGo(p, v.Cause)
	}
	return s.blocked(p, fmt.Sprintf("the data at %s could not be deleted: %s. Correct that and delete Job %s to try again",
		s.backup.Status.Location, v.Cause, v.Task.Job))
}

// stop stops the Jobs that run, one by one, and waits until they are gone with their pods.
func (s situation) stop(p Plan) (stopped Plan, stops bool) {
	for _, job := range s.Jobs {
		deletes := job.Component == dbv1.ComponentBackupDeletion
		switch {
		case job.Ending && !deletes:
			return p.because(fmt.Sprintf("waiting for Job %s and its pods to be gone", job.Job)), true
		case job.Ending, job.Ended(), deletes && s.unwanted():
			continue
		default:
			return p.because(fmt.Sprintf("stopping Job %s", job.Job)).do(StopJob{Job: job}), true
		}
	}
	return p, false
}

// unwanted tells whether something may be at the destination that has to go: all of an incomplete backup, and a
// complete one by policy.
func (s situation) unwanted() bool {
	is := s.backup.Status
	return is.Destination != nil && (is.Phase != dbv1.BackupCompleted || s.backup.Spec.DeletionPolicy == dbv1.BackupDelete)
}

func (s situation) blocked(p Plan, text string) Plan {
	if s.backup.Spec.DeletionPolicy != dbv1.BackupDelete {
		return s.letGo(p.because(text), text)
	}
	return p.because(text).stalled(dbv1.ReasonDeletionError, fmt.Sprintf(
		"%s; or set spec.deletionPolicy of DatabaseBackup %s to Retain to let it go and keep the data", text, s.backup.Name))
}

// letGo lets a backup go that did not complete, although its data could not be deleted.
func (s situation) letGo(p Plan, cause string) Plan {
	return p.do(Finalize{Note: fmt.Sprintf("what there was of a backup that did not complete may still be at %s: %s", s.backup.Status.Location, cause)})
}

// kept says where the data of a complete backup stays.
func kept(backup *dbv1.DatabaseBackup) string {
	if backup.Status.Phase != dbv1.BackupCompleted {
		return ""
	}
	return fmt.Sprintf("the data stays at %s, because spec.deletionPolicy is Retain", backup.Status.Location)
}
