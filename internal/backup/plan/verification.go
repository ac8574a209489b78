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
	"github.com/dbcluster/databasecluster-operator/internal/action"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// verification goes on with the verification that runs, clears up after one that has ended, or begins the one that is
// asked for. Each value of the annotation asks once.
func (s situation) verification(p Plan) Plan {
	v, asked := p.Status.Verification, request(s.backup)
	left := s.leftovers()
	switch {
	case Verifying(s.backup):
		return s.verify(p)
	case v != nil && len(left) > 0:
		return clearUp(p, s.policyName(), left)
	case asked != "" && (v == nil || v.Request != asked):
		p = s.hold(p)
		p.Status.Verification = &dbv1.BackupVerification{
			Request: asked, Phase: dbv1.VerificationRunning, Message: "starting", StartTime: &metav1.Time{Time: s.At},
		}
		if text := s.unverifiable(); text != "" {
			return s.verified(p, dbv1.VerificationFailed, text)
		}
	}
	return p
}

// verify ends a verification whose cluster no longer exists, and keeps the policy around its copy right before
// anything else.
func (s situation) verify(p Plan) Plan {
	if s.Cluster == nil && len(s.Jobs) > 0 {
		return s.verified(p, dbv1.VerificationFailed, fmt.Sprintf("DatabaseCluster %s no longer exists, so its copy is deleted", s.backup.Spec.Cluster))
	}
	if apply, drifted := s.policyDrift(); drifted {
		return p.verifying(p.Status.Verification.Message).do(apply).in(waitingAgain)
	}
	return s.verifyMembers(p)
}

// verifyMembers restores one member after the other.
func (s situation) verifyMembers(p Plan) Plan {
	var answers []string
	for ordinal := range s.backup.Status.Replicas {
		name := naming.VerificationJob(s.backup.Spec.Cluster, s.backup.UID, p.Status.Verification.Request, ordinal)
		v := s.judge(name, s.expectedCopy(ordinal))
		if v.Standing != action.Succeeded {
			return s.awaitCopy(p, v, name, ordinal)
		}
		result := v.Task.Result
		if result != nil && len(result.Output) > 0 {
			answers = append(answers, string(result.Output))
		}
		if text := s.compare(p, ordinal, result); text != "" {
			return s.verified(p, dbv1.VerificationFailed, text)
		}
	}
	answered := strings.TrimSuffix("the restored copy answered: "+strings.Join(answers, ", "), ": ")
	return s.verified(p, dbv1.VerificationSucceeded, answered+"; "+compared(s.Engine, p.Status))
}

// expectedCopy is what the Job of a verification is held to.
func (s situation) expectedCopy(ordinal int32) action.Expected {
	expected := action.Expected{Deadline: s.proofDeadline}
	if s.unverifiable() == "" {
		expected.Desired = []resources.Child{s.verificationJob(ordinal)}
	}
	return expected
}

// awaitCopy is what is done while the copy of a member has not answered.
func (s situation) awaitCopy(p Plan, v action.Verdict, name string, ordinal int32) Plan {
	seen := p.Status.Verification.Message
	usual := fmt.Sprintf("Job %s restores member %d of %d into a throw-away copy", name, ordinal+1, s.backup.Status.Replicas)
	switch v.Standing {
	case action.Absent:
		return s.startCopy(p, ordinal)
	case action.Terminating:
		return s.awaitDeletion(p, v.Task, ordinal)
	case action.Superseded:
		return p.verifying(recreates(v.Task)).do(StopJob{Job: v.Task})
	case action.Failed, action.Lost:
		return s.verified(p, dbv1.VerificationFailed, withDatabase(reason(v, usual, seen), seen)+s.mismatch())
	case action.Succeeded, action.Blocked, action.Failing, action.Unmet, action.Retrying, action.Running:
	}
	sentence := v.Sentence(usual, seen)
	return p.tell(v, sentence).verifying(withAnswer(sentence, usual, seen, v.Task.Answer)).in(waitingAgain)
}

// awaitDeletion waits until a Job that is being deleted no longer exists, as long as a verification may take: while one runs, no
// backup expires.
func (s situation) awaitDeletion(p Plan, job state.Task, ordinal int32) Plan {
	patience := s.proofDeadline*time.Duration(ordinal+1) + state.Unanswered
	if since := p.Status.Verification.StartTime; since != nil && s.At.After(since.Add(patience)) {
		return s.verified(p, dbv1.VerificationFailed, fmt.Sprintf("Job %s was deleted and does not go: its pod %s does not answer", job.Job, job.Pod))
	}
	return p.verifying(fmt.Sprintf("waiting for Job %s to be deleted", job.Job)).in(waitingAgain)
}

func (s situation) startCopy(p Plan, ordinal int32) Plan {
	if text := s.unverifiable(); text != "" {
		return s.verified(p, dbv1.VerificationFailed, text)
	}
	return p.verifying(p.Status.Verification.Message).do(ApplyPolicy{Policy: s.policy()}, CreateJob{Job: s.verificationJob(ordinal)})
}

func (s situation) verified(p Plan, phase dbv1.VerificationPhase, text string) Plan {
	v := p.Status.Verification
	v.Phase, v.Message, v.CompletionTime = phase, text, &metav1.Time{Time: s.At}
	return p.because(text)
}

// mismatch says, of a copy that did not answer, that not all of it was as when the backup was made: the arguments of a newer
// version, say, may keep an older one from starting. Then the backup need not be bad.
func (s situation) mismatch() string {
	if s.Since == "" {
		return ""
	}
	return fmt.Sprintf(". The copy ran engine %q and image %q, which made the backup, with the arguments, parameters and files of DatabaseCluster %s, "+
		"which now has %s: check that they fit before you consider the backup bad", s.backup.Status.Engine, s.backup.Status.Image, s.backup.Spec.Cluster, s.Since)
}

// policyDrift puts the policy around copies that run right: it may be deleted or changed, or an earlier operator with other
// settings made it.
func (s situation) policyDrift() (apply ApplyPolicy, drifted bool) {
	if !s.PolicyRead || !Begun(s.backup.Status) {
		return apply, false
	}
	apply = ApplyPolicy{Policy: s.policy(), Live: s.Policy}
	return apply, s.Policy == nil || apply.Policy.Drift(s.Policy) != ""
}

// unverifiable says what is missing for a verification.
func (s situation) unverifiable() string {
	cluster, declared := s.Cluster, s.Engine
	switch {
	case cluster == nil:
		return fmt.Sprintf("DatabaseCluster %s does not exist: a verification takes the size of the volume, the Secrets and the security of the pods from it", s.backup.Spec.Cluster)
	case !Begun(s.backup.Status):
		return "status.destination, location or members of the DatabaseBackup are gone: it is not known where the data is"
	case s.TransferImage == "":
		return "the operator was started without --transfer-image, so it can make no Jobs for verifications: set it to the operator's own image"
	case s.Missing != "":
		return s.Missing
	case forbidden(s.backup.Status.Destination) != "":
		return forbidden(s.backup.Status.Destination)
	case declared == nil:
		return fmt.Sprintf("DatabaseEngine %s, with which the backup was made, does not exist: create it", s.backup.Status.Engine)
	case declared.Spec.Actions.Restore == nil:
		return fmt.Sprintf("DatabaseEngine %s has no action restore", declared.Name)
	case !s.asks():
		return fmt.Sprintf("DatabaseEngine %s has no action probe: set spec.backup.verification.command of DatabaseCluster %s", declared.Name, cluster.Name)
	default:
		return ""
	}
}

// question is the command that the copy must answer, and how it is asked: one of the user's answers by its exit code,
// whatever it prints.
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

func verifySpec(cluster *dbv1.DatabaseCluster) *dbv1.VerificationSchedule {
	if cluster == nil || cluster.Spec.Backup == nil {
		return nil
	}
	return cluster.Spec.Backup.Verification
}

// leftovers are the Jobs of a verification that has ended, whatever its end; the copies go with their pods.
func (s situation) leftovers() []state.Task {
	return state.Only(s.Jobs, func(j state.Task) bool { return j.Component == dbv1.ComponentVerification && !j.Ending })
}

// clearUp removes copies. One that may still run is stopped first: the policy around the copies is deleted with the others,
// before the Jobs, which tell that there is something to clean up.
func clearUp(p Plan, policy string, left []state.Task) Plan {
	if job, runs := state.First(left, func(j state.Task) bool { return !j.Ended() }); runs {
		return p.because("stopping the throw-away copy").do(StopJob{Job: job})
	}
	p = p.because("removing the throw-away copy").do(DeletePolicy{Name: policy})
	for _, job := range left {
		p = p.do(DeleteJob{job})
	}
	return p
}
