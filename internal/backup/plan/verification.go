/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// verification continues a running verification, cleans up after a finished one, or starts the requested one. Each
// value of the annotation is one request.
func (s situation) verification(p BackupPlan) BackupPlan {
	v, asked := p.Status.Verification, request(s.backup)
	left := s.leftovers()
	switch {
	case Verifying(s.backup):
		return s.verify(p)
	case v != nil && len(left) > 0:
		return s.clearUp(p, left)
	case asked != "" && (v == nil || v.Request != asked):
		p = s.withFinalizer(p)
		p.Status.Verification = &dbv1.BackupVerification{
			Request: asked, Phase: dbv1.VerificationRunning, Message: "starting", StartTime: &metav1.Time{Time: s.At},
		}
		if text := s.unverifiable(); text != "" {
			return s.verified(p, dbv1.VerificationFailed, text)
		}
		p.Status.Verification.Recovery = s.recovery(asked)
	}
	return p
}

// verify fails a verification whose cluster no longer exists, and first corrects the policy of its copy.
func (s situation) verify(p BackupPlan) BackupPlan {
	if s.Cluster == nil && len(s.Jobs) > 0 {
		return s.verified(p, dbv1.VerificationFailed,
			fmt.Sprintf("DatabaseCluster %s no longer exists, so the operator deletes the temporary copy", s.backup.Spec.Cluster))
	}
	if apply, drifted := s.policyDrift(); drifted {
		return p.verifying(p.Status.Verification.Message).do(apply).in(waitRequeueAfter)
	}
	return s.verifyMembers(p)
}

// verifyMembers restores one member after the other.
func (s situation) verifyMembers(p BackupPlan) BackupPlan {
	var answers []string
	for ordinal := range s.backup.Status.Replicas {
		name := naming.VerificationJob(s.backup.Spec.Cluster, s.backup.UID, p.Status.Verification.Request, ordinal)
		policy := s.copyPolicy(name, p.Status.Verification.Message, ordinal)
		r := s.runJob(name, policy)
		if r.Step != jobs.Done {
			return s.awaitCopy(p, policy, r, ordinal)
		}
		result := r.Job.Result
		s.measure(p.Status.Verification, r.Job.Restored)
		if result != nil && len(result.Output) > 0 {
			answers = append(answers, string(result.Output))
		}
		if text := s.compare(p, ordinal, result); text != "" {
			return s.verified(p, dbv1.VerificationFailed, text)
		}
	}
	answered := strings.TrimSuffix("the restored copy answered: "+strings.Join(answers, ", "), ": ")
	answered += recovered(p.Status.Verification.Recovery)
	return s.verified(p, dbv1.VerificationSucceeded, answered+"; "+compared(s.comparable(), p.Status))
}

// copyPolicy is the policy for the Job of a verification.
func (s situation) copyPolicy(name, seen string, ordinal int32) jobs.Policy {
	policy := verificationAction.Policy(s.Cluster)
	policy.Seen, policy.Purpose = seen, fmt.Sprintf("Job %s restores member %d of %d into a temporary copy%s", name, ordinal+1,
		s.backup.Status.Replicas, aim(s.backup.Status.Verification.Recovery))
	if s.unverifiable() == "" {
		policy.Desired = []objects.Child{s.verificationJob(ordinal)}
	}
	return policy
}

// awaitCopy waits until the copy of a member answers.
func (s situation) awaitCopy(p BackupPlan, policy jobs.Policy, r jobs.Result, ordinal int32) BackupPlan {
	switch r.Step {
	case jobs.Create:
		return s.startCopy(p, ordinal)
	case jobs.AwaitDeletion:
		return s.awaitDeletion(p, r.Job, ordinal)
	case jobs.Recreate:
		return p.verifying(recreates(r.Job)).do(stop(r.Job))
	case jobs.Failed, jobs.Lost:
		return s.verified(p, dbv1.VerificationFailed, withDatabase(r.Message, policy.Seen)+s.mismatch())
	case jobs.Done, jobs.Wait:
	}
	return p.withTrouble(r).verifying(withAnswer(r.Message, policy.Purpose, policy.Seen, r.Job.Answer)).in(waitRequeueAfter)
}

// awaitDeletion waits until a terminating Job no longer exists, at most for the deadline of a verification. During
// a verification, no backup expires.
func (s situation) awaitDeletion(p BackupPlan, job jobs.Job, ordinal int32) BackupPlan {
	limit := verificationAction.Deadline(s.Cluster)*time.Duration(ordinal+1) + jobs.Unanswered
	if since := p.Status.Verification.StartTime; since != nil && s.At.After(since.Add(limit)) {
		return s.verified(p, dbv1.VerificationFailed,
			fmt.Sprintf("Job %s was deleted but still exists: its pod %s does not answer", job.Name, job.Pod))
	}
	return p.verifying(fmt.Sprintf("waiting for Job %s to be deleted", job.Name)).in(waitRequeueAfter)
}

func (s situation) startCopy(p BackupPlan, ordinal int32) BackupPlan {
	if text := s.unverifiable(); text != "" {
		return s.verified(p, dbv1.VerificationFailed, text)
	}
	p = p.verifying(p.Status.Verification.Message)
	if apply, needed := s.isolate(); needed {
		p = p.do(apply)
	}
	return p.do(create(s.verificationJob(ordinal)))
}

func (s situation) verified(p BackupPlan, phase dbv1.BackupVerificationPhase, text string) BackupPlan {
	v := p.Status.Verification
	v.Phase, v.Message, v.CompletionTime = phase, text, &metav1.Time{Time: s.At}
	return p.because(text)
}

// mismatch reports differences between the cluster now and at the time of the backup, if a copy did not answer. For
// example, arguments of a newer version may prevent an older one from starting. Then the backup may still be valid.
func (s situation) mismatch() string {
	if s.Diverged == "" {
		return ""
	}
	return fmt.Sprintf(". The copy used the backup's engine %q and image %q, with the arguments, parameters and files of DatabaseCluster %s, "+
		"which now has %s. Check that they are compatible before you discard the backup", s.backup.Status.Engine, s.backup.Status.Image,
		s.backup.Spec.Cluster, s.Diverged)
}

// policyDrift corrects the policy of running copies, which may be deleted, changed, or written by an operator with
// other settings.
func (s situation) policyDrift() (apply operation.Apply, drifted bool) {
	if !s.Isolates || !Begun(s.backup.Status) {
		return apply, false
	}
	return s.isolate()
}

// unverifiable reports a missing precondition of a verification.
func (s situation) unverifiable() string {
	cluster, declared := s.Cluster, s.Engine
	switch {
	case cluster == nil:
		return fmt.Sprintf("DatabaseCluster %s does not exist: a verification needs its volume size, Secrets and security contexts",
			s.backup.Spec.Cluster)
	case !Begun(s.backup.Status):
		return "status.destination, status.location or status.replicas of the DatabaseBackup is missing, so the location of the data is unknown"
	case s.TransferImage == "":
		return "the operator runs without --transfer-image, so it cannot create Jobs for verifications: set the flag to the operator's own image"
	case s.AccountProblem != "":
		return s.accountText()
	case s.Missing != "":
		return s.Missing
	case forbidden(s.backup.Status.Destination) != "":
		return forbidden(s.backup.Status.Destination)
	case declared == nil:
		return fmt.Sprintf("DatabaseEngine %s of the backup does not exist: create it", s.backup.Status.Engine)
	case declared.Spec.Actions.Restore == nil:
		return fmt.Sprintf("DatabaseEngine %s has no action restore", declared.Name)
	case !s.asks():
		return fmt.Sprintf("DatabaseEngine %s has no action probe: set spec.backup.verification.command of DatabaseCluster %s", declared.Name,
			cluster.Name)
	default:
		return ""
	}
}

// question is the command that the copy must answer, and how to evaluate it: a command of the user by its exit
// code, whatever its output.
func (s situation) question() (command []string, byExitCode bool) {
	if verify := verifySpec(s.Cluster); verify != nil && len(verify.Command) > 0 {
		return verify.Command, true
	}
	if probe := s.Engine.Spec.Actions.Probe; probe != nil {
		return probe.Command, false
	}
	return nil, false
}

func (s situation) asks() bool {
	command, _ := s.question()
	return len(command) > 0
}

func verifySpec(cluster *dbv1.DatabaseCluster) *dbv1.BackupVerificationSchedule {
	if cluster == nil || cluster.Spec.Backup == nil {
		return nil
	}
	return cluster.Spec.Backup.Verification
}

// leftovers are the Jobs of a finished verification, whatever its result. The copies are deleted with their pods.
func (s situation) leftovers() []jobs.Job {
	return state.Only(s.Jobs, func(j jobs.Job) bool { return j.Component == dbv1.ComponentVerification && !j.Ending })
}

// clearUp deletes copies. It first stops a copy that may still run. It deletes the policy of the copies before the
// Jobs, because the existing Jobs show that there is something to clean up.
func (s situation) clearUp(p BackupPlan, left []jobs.Job) BackupPlan {
	if job, runs := state.First(left, func(j jobs.Job) bool { return !j.Ended() }); runs {
		return p.because("stopping the temporary copy").do(stop(job))
	}
	p = p.because("deleting the temporary copy").do(s.expose()...)
	for _, job := range left {
		p = p.do(remove(job))
	}
	return p
}
