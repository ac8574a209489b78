/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// purpose is what the Job of a stage does.
var purpose = map[state.Stage]string{
	state.StageRotate: "puts the new passwords in force",
	state.StageRetire: "removes the previous passwords",
}

// run runs the Job of the stage until it has succeeded for all members. Clients have the new passwords before the previous ones are
// removed.
func run(s *situation.Situation) Plan {
	p := attempt(s)
	if stage(s) == state.StageRetire && p.Reason == dbv1.ReasonRotating {
		rotated := done(s)
		p.Reason, p.Message = rotated.Reason, rotated.Message+"; "+p.Message
	}
	return p
}

// attempt starts the Job as soon as all members are ready. Its result does not count for members that have started since.
func attempt(s *situation.Situation) Plan {
	works := fmt.Sprintf("%s %s", desired(s), purpose[stage(s)])
	r := runJob(s, works)
	p := rotating(r.Message)
	switch r.Step {
	case jobs.Create:
		if obstacle := obstacle(s); obstacle != "" {
			return rotating("the rotation " + obstacle)
		}
		return rotating(works, operation.StartJob("create "+desired(s).String(), desired(s)))
	case jobs.Recreate:
		return again(r, "its configuration has changed", operation.Recreation(r.Job))
	case jobs.Done:
		const why = "a member has started since"
		return again(r, why, operation.JobOf(r.Job).Because(why))
	case jobs.Failed, jobs.Lost:
		p = failed(s, r)
	case jobs.AwaitDeletion, jobs.Wait:
		if r.NeedsUser() {
			p.Reason = dbv1.ReasonRotationFailed
		}
	}
	p.RequeueAfter = r.Left
	return p
}

func again(r jobs.Result, why string, removal operation.Removal) Plan {
	return rotating(fmt.Sprintf("Job %s runs again: %s", r.Job.Name, why), operation.Deletion(removal)...)
}

func failed(s *situation.Situation, r jobs.Result) Plan {
	clients := "previous"
	if s.Credentials.InForce() {
		clients = "new"
	}
	return Plan{Reason: dbv1.ReasonRotationFailed, Message: fmt.Sprintf(
		"Job %s, which %s, failed: %s. Clients use the %s passwords. See kubectl logs job/%[1]s, then delete the Job to try again",
		r.Job.Name, purpose[stage(s)], r.Cause, clients)}
}

// obstacle is why no Job can reach all members with their current passwords yet; "" for nothing. A rollout comes first, because each
// restart would void the Job.
func obstacle(s *situation.Situation) string {
	switch {
	case s.JobObstacle() != "":
		return "cannot start its Job: " + s.JobObstacle()
	case s.Ready() < s.Cluster.Spec.Replicas:
		return "waits until all members are ready"
	case s.AwaitsReferences():
		return "waits until all members have restarted with the current Secrets and ConfigMaps"
	case !s.Credentials.InForce() && len(s.Outdated()) > 0 && !s.UserRestarts():
		return "waits until the rollout has ended"
	default:
		return ""
	}
}

// Stalled is the cause for which the user must act before the rotation continues.
func (p Plan) Stalled() *situation.Stall {
	if p.Reason == dbv1.ReasonRotationFailed {
		return &situation.Stall{Reason: p.Reason, Message: p.Message}
	}
	return nil
}

func desired(s *situation.Situation) objects.Child {
	return rotationJob(s.Cluster, s.Engine, s.Credentials, stage(s), s.Members)
}

// runJob runs the Job; its message says what it does.
func runJob(s *situation.Situation, works string) jobs.Result {
	policy := rotationAction.Policy(s.Cluster)
	policy.Purpose = works
	if s.Engine != nil && s.Engine.Spec.Actions.Credentials != nil {
		policy.Desired = []objects.Child{desired(s)}
	}
	return jobs.Run(policy, s.Rotation, s.RotationStarted, s.At)
}
