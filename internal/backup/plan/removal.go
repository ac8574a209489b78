/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// remove deletes a backup: first it stops Jobs that write or read, then it deletes the data by policy, then it
// removes the operator's finalizer.
func (s situation) remove(p BackupPlan) BackupPlan {
	if !s.hasFinalizer {
		return p.because("the operator has nothing left to do")
	}
	if stopped, stops := s.stop(p); stops {
		return stopped
	}
	if s.unwanted() && s.Stray != "" {
		return p.because(fmt.Sprintf("waiting for pod %s to terminate: its Job was deleted while the pod ran", s.Stray)).in(waitRequeueAfter)
	}
	if !s.backup.Status.Phase.Finished() {
		p = s.fail(p, "the backup was deleted before it was complete") // the next backup need not wait for the deletion of the data
	}
	switch {
	case !s.unwanted():
		return p.because("its data is retained").do(finalize(retainedNote(s.backup)))
	case s.TransferImage == "":
		return s.blocked(p,
			"the operator runs without --transfer-image, so it cannot create a Job to delete the data: set the flag to the operator's own image")
	default:
		return s.removeData(p)
	}
}

// removeData deletes the data by policy when no Job writes any more.
func (s situation) removeData(p BackupPlan) BackupPlan {
	name, desired := naming.BackupDeletionJob(s.backup.Spec.Cluster, s.backup.UID), s.deletionJob()
	policy := deletionAction.Policy(s.Cluster)
	policy.Desired, policy.Deadline = []objects.Child{desired}, s.deletionDeadline()
	policy.Purpose = fmt.Sprintf("Job %s deletes the data", name)
	r := s.runJob(name, policy)
	switch r.Step {
	case jobs.Create:
		if s.AccountProblem != "" {
			return s.blocked(p, s.accountText()).in(waitRequeueAfter)
		}
		return p.because("deleting the data").do(s.deletes(desired))
	case jobs.AwaitDeletion:
		return p.because(fmt.Sprintf("waiting for Job %s to be deleted", name))
	case jobs.Done:
		// The Job is deleted last. Without it, a repetition would create a Job with nothing to delete.
		return p.because("its data is deleted").do(finalize(""), remove(r.Job))
	case jobs.Recreate:
		return p.because(recreates(r.Job)).do(stop(r.Job))
	case jobs.Failed, jobs.Lost:
		return s.undeleted(p, r)
	case jobs.Wait:
	}
	p = p.withTrouble(r).because(r.Message)
	if s.Missing != "" {
		p.Why += "; " + s.Missing
	}
	return p.in(waitRequeueAfter)
}

// deletes creates the Job that deletes the data. If the namespace is terminating, no object can be created any more, and waiting would
// block the deletion of the namespace forever.
func (s situation) deletes(job objects.Child) operation.Create {
	o := create(job)
	o.Is, o.Instead = operation.LastInDeletion, finalize(fmt.Sprintf(
		"namespace %s is terminating, so no Job can delete the data: it is retained at %s", s.backup.Namespace, s.backup.Status.Location))
	return o
}

// undeleted handles a failed deletion of data. Data of an incomplete backup does not block the deletion.
func (s situation) undeleted(p BackupPlan, r jobs.Result) BackupPlan {
	if s.backup.Spec.DeletionPolicy != dbv1.BackupDelete {
		return s.finishIncomplete(p, r.Cause)
	}
	return s.blocked(p, fmt.Sprintf("the data at %s could not be deleted: %s. Correct the cause, then delete Job %s to retry",
		s.backup.Status.Location, r.Cause, r.Job.Name))
}

// stop stops the running Jobs, one by one, and waits until they and their pods no longer exist.
func (s situation) stop(p BackupPlan) (stopped BackupPlan, stops bool) {
	for _, job := range s.Jobs {
		deletes := job.Component == dbv1.ComponentBackupDeletion
		switch {
		case job.Ending && !deletes:
			return p.because(fmt.Sprintf("waiting for Job %s and its pods to be deleted", job.Name)), true
		case job.Ending, job.Ended(), deletes && s.unwanted():
			continue
		default:
			return p.because(fmt.Sprintf("stopping Job %s", job.Name)).do(stop(job)), true
		}
	}
	return p, false
}

// unwanted reports whether the destination may have data to delete: all of an incomplete backup, and a complete
// backup by policy.
func (s situation) unwanted() bool {
	is := s.backup.Status
	return is.Destination != nil && (is.Phase != dbv1.BackupCompleted || s.backup.Spec.DeletionPolicy == dbv1.BackupDelete)
}

func (s situation) blocked(p BackupPlan, text string) BackupPlan {
	if s.backup.Spec.DeletionPolicy != dbv1.BackupDelete {
		return s.finishIncomplete(p.because(text), text)
	}
	return p.because(text).stalled(dbv1.ReasonDeletionError, fmt.Sprintf(
		"%s; or set spec.deletionPolicy of DatabaseBackup %s to Retain to finish its deletion and retain the data", text, s.backup.Name))
}

// finishIncomplete finishes the deletion of an incomplete backup although its data could not be deleted.
func (s situation) finishIncomplete(p BackupPlan, cause string) BackupPlan {
	return p.do(finalize(fmt.Sprintf("data of the incomplete backup may still be at %s: %s", s.backup.Status.Location, cause)))
}

// retainedNote reports the location of the retained data of a complete backup.
func retainedNote(backup *dbv1.DatabaseBackup) string {
	if backup.Status.Phase != dbv1.BackupCompleted {
		return ""
	}
	return fmt.Sprintf("the data is retained at %s, because spec.deletionPolicy is Retain", backup.Status.Location)
}
