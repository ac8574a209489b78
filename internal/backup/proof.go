/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// request is what asks for a verification; "" when nothing does.
func request(backup *dbv1.DatabaseBackup) string { return state.BackupOf(backup).Asked }

// prove goes on with the verification that runs, clears up after one that has ended, or begins the one that is
// asked for. Each value of the annotation asks once.
func (p *Plan) prove(backup *dbv1.DatabaseBackup, observed Observed) {
	v, asked := p.Status.Verification, request(backup)
	switch {
	case verifying(p.Status) == dbv1.VerificationRunning:
		p.goOnProving(backup, observed)
	case v != nil && len(leftovers(observed)) > 0:
		p.clear(leftovers(observed))
	case asked != "" && (v == nil || v.Request != asked):
		p.AddFinalizer = !held(backup)
		p.Status.Verification = &dbv1.BackupVerification{
			Request: asked, Phase: dbv1.VerificationRunning, Message: "starting", StartTime: &metav1.Time{Time: observed.At},
		}
		if text := unprovable(backup, observed); text != "" {
			p.proved(observed, dbv1.VerificationFailed, text)
		}
	}
}

// goOnProving ends a verification whose cluster no longer exists, and keeps the policy around its copy right before
// anything else.
func (p *Plan) goOnProving(backup *dbv1.DatabaseBackup, observed Observed) {
	switch {
	case observed.Cluster == nil && len(observed.Jobs) > 0:
		p.proved(observed, dbv1.VerificationFailed, fmt.Sprintf("DatabaseCluster %s no longer exists, so its copy is deleted", backup.Spec.Cluster))
	case !p.seclude(backup, observed):
		p.verify(backup, observed, p.Status.Verification)
	}
}

// verify restores one member after the other.
func (p *Plan) verify(backup *dbv1.DatabaseBackup, observed Observed, v *dbv1.BackupVerification) {
	var answers []string
	for ordinal := range backup.Status.Members {
		name := naming.VerificationJob(backup.Spec.Cluster, backup.UID, v.Request, ordinal)
		usual := fmt.Sprintf("Job %s restores member %d of %d into a throw-away copy", name, ordinal+1, backup.Status.Members)
		job, found := observed.job(name)
		switch {
		case !found:
			p.startProof(backup, observed, ordinal)
			return
		case job.Ending:
			p.awaitProof(observed, job, ordinal)
			return
		case observed.failed(job, proofDeadline(observed.Cluster)):
			p.proved(observed, dbv1.VerificationFailed, withDatabase(why(job, usual, v.Message), v.Message)+mismatch(backup, observed))
			return
		case unprovable(backup, observed) == "" && resources.Outdated(job.Task, verificationJob(backup, observed, ordinal)):
			p.proving(p.recreate(job))
			return
		case !job.Succeeded:
			p.proving(p.waiting(job, usual, v.Message, observed.Answer))
			p.Again = waitingAgain
			return
		case job.Result != nil && len(job.Result.Output) > 0:
			answers = append(answers, string(job.Result.Output))
		}
		if text := p.compare(backup, observed, ordinal, job.Result); text != "" {
			p.proved(observed, dbv1.VerificationFailed, text)
			return
		}
	}
	answered := strings.TrimSuffix("the restored copy answered: "+strings.Join(answers, ", "), ": ")
	p.proved(observed, dbv1.VerificationSucceeded, answered+"; "+compared(observed.Engine, p.Status))
}

// awaitProof waits until a Job that is being deleted no longer exists, as long as a verification may take: while one runs, no
// backup expires.
func (p *Plan) awaitProof(observed Observed, job Job, ordinal int32) {
	patience := proofDeadline(observed.Cluster)*time.Duration(ordinal+1) + state.Unanswered
	if since := p.Status.Verification.StartTime; since != nil && observed.At.After(since.Add(patience)) {
		p.proved(observed, dbv1.VerificationFailed, fmt.Sprintf("Job %s was deleted and does not go: its pod %s does not answer", job.Job, job.Pod))
		return
	}
	p.proving(fmt.Sprintf("waiting for Job %s to be deleted", job.Job))
	p.Again = waitingAgain
}

// mismatch says, of a copy that did not answer, that not all of it was as when the backup was made: the arguments of a newer
// version, say, may keep an older one from starting. Then the backup need not be bad.
func mismatch(backup *dbv1.DatabaseBackup, observed Observed) string {
	if observed.Since == "" {
		return ""
	}
	return fmt.Sprintf(". The copy ran engine %q and image %q, which made the backup, with the arguments, parameters and files of DatabaseCluster %s, "+
		"which now has %s: check that they fit before you consider the backup bad", backup.Status.Engine, backup.Status.Image, backup.Spec.Cluster, observed.Since)
}

// seclude puts the policy around copies that run right: it may be deleted or changed, or an earlier operator with other
// settings made it.
func (p *Plan) seclude(backup *dbv1.DatabaseBackup, observed Observed) bool {
	if !observed.PolicyRead || !begun(backup.Status) {
		return false
	}
	policy := verificationPolicy(backup, observed.NameServers)
	if observed.Policy != nil && policy.Drift(observed.Policy) == "" {
		return false
	}
	p.Step = Seclude{Policy: policy, Live: observed.Policy}
	p.proving(p.Status.Verification.Message)
	p.Again = waitingAgain
	return true
}

func (p *Plan) startProof(backup *dbv1.DatabaseBackup, observed Observed, ordinal int32) {
	if text := unprovable(backup, observed); text != "" {
		p.proved(observed, dbv1.VerificationFailed, text)
		return
	}
	policy := verificationPolicy(backup, observed.NameServers)
	p.Step = MakeJob{Job: verificationJob(backup, observed, ordinal), Policy: &policy}
	p.proving(p.Status.Verification.Message)
}

func (p *Plan) proving(text string) { p.Status.Verification.Message, p.Why = text, text }

func (p *Plan) proved(observed Observed, phase dbv1.VerificationPhase, text string) {
	v := p.Status.Verification
	v.Phase, v.Message, v.CompletionTime = phase, text, &metav1.Time{Time: observed.At}
	p.Why = text
}

// unprovable says what is missing for a verification.
func unprovable(backup *dbv1.DatabaseBackup, observed Observed) string {
	cluster, declared := observed.Cluster, observed.Engine
	switch {
	case cluster == nil:
		return fmt.Sprintf("DatabaseCluster %s does not exist: a verification takes the size of the volume, the Secrets and the security of the pods from it", backup.Spec.Cluster)
	case !begun(backup.Status):
		return "status.destination, location or members of the DatabaseBackup are gone: it is not known where the data is"
	case observed.TransferImage == "":
		return "the operator was started without --transfer-image, so it can make no Jobs for verifications: set it to the operator's own image"
	case observed.Missing != "":
		return observed.Missing
	case forbidden(backup.Status.Destination) != "":
		return forbidden(backup.Status.Destination)
	case declared == nil:
		return fmt.Sprintf("DatabaseEngine %s, with which the backup was made, does not exist: create it", backup.Status.Engine)
	case declared.Spec.Actions.Restore == nil:
		return fmt.Sprintf("DatabaseEngine %s has no action restore", declared.Name)
	case !asks(observed):
		return fmt.Sprintf("DatabaseEngine %s has no action probe: set spec.backup.verify.command of DatabaseCluster %s", declared.Name, cluster.Name)
	default:
		return ""
	}
}

// question is the command that the copy must answer, and how it is asked: one of the user's answers by its exit code,
// whatever it prints.
func question(observed Observed) (command []string, byExitCode bool) {
	if verify := verifySpec(observed.Cluster); verify != nil && len(verify.Command) > 0 {
		return verify.Command, true
	}
	if probe := observed.Engine.Spec.Actions.Probe; probe != nil {
		return probe.Command, false
	}
	return nil, false
}

func asks(observed Observed) bool {
	command, _ := question(observed)
	return len(command) > 0
}

func verifySpec(cluster *dbv1.DatabaseCluster) *dbv1.BackupVerify {
	if cluster == nil || cluster.Spec.Backup == nil {
		return nil
	}
	return cluster.Spec.Backup.Verify
}

// proofDeadline is how long the restore and the answer of each member may take.
func proofDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	if verify := verifySpec(cluster); verify != nil && verify.DeadlineSeconds > 0 {
		return time.Duration(verify.DeadlineSeconds) * time.Second
	}
	return defaultDeadlineSeconds * time.Second
}

// leftovers are the Jobs of a verification that has ended, whatever its end; the copies go with their pods.
func leftovers(observed Observed) []Job {
	var all []Job
	for _, job := range observed.Jobs {
		if job.Component == dbv1.ComponentVerification && !job.Ending {
			all = append(all, job)
		}
	}
	return all
}

// clear removes copies. One that may still run is stopped first: the policy around the copies is deleted with the others.
func (p *Plan) clear(left []Job) {
	p.Step, p.Why = CleanUp{left}, "removing the throw-away copy"
	if i := slices.IndexFunc(left, func(j Job) bool { return !j.over() }); i >= 0 {
		p.Step, p.Why = StopJob{left[i]}, "stopping the throw-away copy"
	}
}
