/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// run backs up one member after the other.
func (s situation) run(p BackupPlan) BackupPlan {
	p = s.withFinalizer(p)
	switch {
	case s.invalidReason != "":
		return s.giveUp(p)
	case !s.left:
		return s.complete(p)
	}
	name, seen := naming.BackupJob(s.backup.Spec.Cluster, s.backup.UID, s.ordinal), s.backup.Status.Message
	usual := fmt.Sprintf("Job %s backs up member %d of %d", name, s.ordinal+1, s.backup.Status.Replicas)
	switch v := s.judge(name, s.expectedBackup()); v.Standing {
	case jobs.Absent:
		return s.startMember(p)
	case jobs.Terminating:
		return s.awaitMember(p, v.Job)
	case jobs.Superseded:
		return p.running(s.supersedes(v.Job)).do(StopJob{Job: v.Job})
	case jobs.Succeeded:
		return s.record(p, v.Job.Result)
	case jobs.Failed, jobs.Lost:
		return s.fail(p, reason(v, usual, seen))
	case jobs.Blocked, jobs.Failing, jobs.Unmet, jobs.Retrying, jobs.Running:
		p = s.waits(p.running(v.Sentence(usual, seen)), v)
		return progress(p, v.Job.Progress).in(progressRequeueAfter)
	}
	return p
}

// judge returns the state of the action of a Job.
func (s situation) judge(name string, expected jobs.Expected) jobs.Verdict {
	task, exists := s.job(name)
	return jobs.Judge(task, exists, expected, s.At)
}

// expectedBackup is the expected Job of the next member. If the engine or the image of the member has changed, the
// backup of the member starts again. The access to the member is decided when its Job is created, so a Job of
// either kind is current.
func (s situation) expectedBackup() jobs.Expected {
	expected := jobs.Expected{Deadline: s.deadline, Restart: s.changed}
	if s.TransferImage != "" && s.engineProblem() == "" {
		for _, source := range s.sources(s.ordinal) {
			expected.Desired = append(expected.Desired, s.backupJob(s.ordinal, source, false), s.backupJob(s.ordinal, source, true))
		}
	}
	return expected
}

// supersedes reports why the Job of a member must be re-created.
func (s situation) supersedes(job jobs.Job) string {
	if s.changed {
		return fmt.Sprintf("stopping Job %s: the engine or the image of DatabaseCluster %s has changed, so the backup starts again", job.Name, s.backup.Spec.Cluster)
	}
	return recreates(job)
}

// recreates is the message for re-creating a Job that has not started.
func recreates(job jobs.Job) string {
	return fmt.Sprintf("re-creating Job %s: its inputs have changed, and none of its pods has started", job.Name)
}

// awaitMember waits until a terminating Job no longer exists, at most for the deadline of a backup.
func (s situation) awaitMember(p BackupPlan, job jobs.Job) BackupPlan {
	if s.At.After(s.startDeadline(s.ordinal).Add(jobs.Unanswered)) {
		return s.fail(p, fmt.Sprintf("Job %s was deleted but still exists: its pod %s does not answer", job.Name, job.Pod))
	}
	return p.running(fmt.Sprintf("waiting for Job %s to be deleted", job.Name)).in(waitRequeueAfter)
}

// startMember creates the Job of the next member. It re-creates a Job that was deleted: the UID identifies the data
// that it wrote.
func (s situation) startMember(p BackupPlan) BackupPlan {
	source, offline, o := s.approach()
	switch {
	case s.Yields && s.Stray == "":
		// A backup that started at the same time is earlier in the queue. The destination remains recorded, for a
		// deletion.
		p.Status.StartTime = nil
		return s.pending(p, o)
	case o.final, o.text != "" && s.waited(s.ordinal):
		return s.fail(p, o.text)
	case o.text != "":
		p.Stalled = o.stall()
		return p.running(o.text).in(waitRequeueAfter)
	case s.changed:
		p.Status.Engine, p.Status.Image = s.Cluster.Spec.Engine, s.Cluster.Spec.Image
		return p.running("starting") // the engine and image are recorded before the Job exists
	default:
		return p.running(p.Status.Message).do(CreateJob{Job: s.backupJob(s.ordinal, source, offline)})
	}
}

// approach returns how the next member can be backed up now and from which member, or the obstacle.
func (s situation) approach() (source int32, offline bool, o obstacle) {
	switch o := s.unable(); {
	case s.Stray != "":
		return 0, false, waitFor("waiting for pod %s to terminate: its Job was deleted while the pod ran", s.Stray)
	case o.text != "":
		return 0, false, o
	case s.Predecessor != "":
		return 0, false, s.queued()
	default:
		return s.access(s.ordinal)
	}
}

// waits adds what the user must do for the Job of a backup. The status of a pod does not report a missing volume
// source.
func (s situation) waits(p BackupPlan, v jobs.Verdict) BackupPlan {
	p = p.withTrouble(v, p.Why)
	switch {
	case p.Stalled != nil:
		return p
	case s.Missing != "" && !v.Job.Started:
		text := fmt.Sprintf("Job %s cannot start: %s", v.Job.Name, s.Missing)
		return p.running(text).stalled(dbv1.ReasonReferenceMissing, text)
	case v.Standing == jobs.Unmet:
		return p.stalled(dbv1.ReasonJobBlocked, fmt.Sprintf("Job %s fails until you correct this: %s", v.Job.Name, v.Cause))
	default:
		return p
	}
}

// reason is the cause of a failure. After the deadline the pod no longer exists, so the last observed problem is
// more informative.
func reason(v jobs.Verdict, usual, seen string) string {
	if v.Cause != v.Job.Failure {
		return v.Cause
	}
	cause := fmt.Sprintf("Job %s failed: %s", v.Job.Name, v.Cause)
	if seen != "" && seen != usual {
		cause += "; " + seen
	}
	return cause
}
