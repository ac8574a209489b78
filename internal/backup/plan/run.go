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
	name := naming.BackupJob(s.backup.Spec.Cluster, s.backup.UID, s.ordinal)
	switch r := s.runJob(name, s.backupPolicy(name)); r.Step {
	case jobs.Create:
		return s.startMember(p)
	case jobs.AwaitDeletion:
		return s.awaitMember(p, r.Job)
	case jobs.Recreate:
		return p.running(s.supersedes(r.Job)).do(stop(r.Job))
	case jobs.Done:
		return s.record(p, r.Job.Result)
	case jobs.Failed, jobs.Lost:
		return s.fail(p, r.Message)
	case jobs.Wait:
		p = s.waits(p.running(r.Message).withTrouble(r), r)
		return progress(p, r.Job.Progress).in(progressRequeueAfter)
	}
	return p
}

// runJob runs the Job of that name.
func (s situation) runJob(name string, policy jobs.Policy) jobs.Result {
	task, exists := s.job(name)
	return jobs.Run(policy, task, exists, s.At)
}

// backupPolicy is the policy for the Job of the next member. If the engine or the image of the member has changed, the
// backup of the member starts again. The access to the member is decided when its Job is created, so a Job of
// either kind is current.
func (s situation) backupPolicy(name string) jobs.Policy {
	policy := backupAction.Policy(s.Cluster)
	policy.Restart, policy.Seen = s.changed, s.backup.Status.Message
	policy.Purpose = fmt.Sprintf("Job %s backs up member %d of %d", name, s.ordinal+1, s.backup.Status.Replicas)
	if s.TransferImage != "" && s.engineProblem() == "" {
		for _, source := range s.sources(s.ordinal) {
			policy.Desired = append(policy.Desired, s.backupJob(s.ordinal, source, false), s.backupJob(s.ordinal, source, true))
		}
	}
	return policy
}

// supersedes reports why the Job of a member must be re-created.
func (s situation) supersedes(job jobs.Job) string {
	if s.changed {
		return fmt.Sprintf("stopping Job %s: the engine or the image of DatabaseCluster %s has changed, so the backup starts again", job.Name,
			s.backup.Spec.Cluster)
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
		return p.running(p.Status.Message).do(create(s.backupJob(s.ordinal, source, offline)))
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
func (s situation) waits(p BackupPlan, r jobs.Result) BackupPlan {
	switch {
	case p.Stalled != nil:
		return p
	case s.Missing != "" && !r.Job.Started:
		text := fmt.Sprintf("Job %s cannot start: %s", r.Job.Name, s.Missing)
		return p.running(text).stalled(dbv1.ReasonReferenceMissing, text)
	case r.Trouble == jobs.Unmet:
		return p.stalled(dbv1.ReasonJobBlocked, fmt.Sprintf("Job %s fails until you correct this: %s", r.Job.Name, r.Cause))
	default:
		return p
	}
}
