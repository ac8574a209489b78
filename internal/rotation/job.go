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

// attempt starts the Job as soon as all members are ready.
func attempt(s *situation.Situation) Plan {
	v := judge(s)
	switch v.Standing {
	case jobs.Absent:
		if obstacle := s.JobObstacle(); obstacle != "" {
			return rotating("the rotation cannot start its Job: " + obstacle)
		}
		if awaited := awaits(s); awaited != "" {
			return rotating("the rotation waits until " + awaited)
		}
		return rotating(fmt.Sprintf("%s %s", desired(s), purpose[stage(s)]), StartRotation{Child: desired(s)})
	case jobs.Superseded:
		return again(v, "its configuration has changed", operation.Recreation(v.Job))
	case jobs.Succeeded:
		removal := operation.Recreation(v.Job)
		removal.Why = "a member has started since"
		return again(v, removal.Why, removal)
	case jobs.Failed, jobs.Lost, jobs.Blocked, jobs.Unmet:
		return failed(s, v)
	case jobs.Terminating, jobs.Failing, jobs.Retrying, jobs.Running:
	}
	p := rotating(v.Sentence(fmt.Sprintf("%s %s", desired(s), purpose[stage(s)]), ""))
	p.RequeueAfter = v.Left
	return p
}

func again(v jobs.Verdict, why string, removal operation.Removal) Plan {
	return rotating(fmt.Sprintf("Job %s runs again: %s", v.Job.Name, why), operation.Delete{Objects: []operation.Removal{removal}})
}

func failed(s *situation.Situation, v jobs.Verdict) Plan {
	p := Plan{Reason: dbv1.ReasonRotationFailed, Message: v.Sentence("", ""), RequeueAfter: v.Left}
	if v.Standing == jobs.Blocked || v.Standing == jobs.Unmet {
		return p
	}
	clients := "previous"
	if s.Credentials.InForce() {
		clients = "new"
	}
	p.Message = fmt.Sprintf("Job %s, which %s, failed: %s. Clients use the %s passwords. See kubectl logs job/%[1]s, then delete the Job to try again",
		v.Job.Name, purpose[stage(s)], v.Cause, clients)
	return p
}

// awaits is what the members have to do before a Job can reach all of them with their current passwords; "" for nothing. A rollout comes
// first, because each restart would void the Job.
func awaits(s *situation.Situation) string {
	switch {
	case s.Ready() < s.Cluster.Spec.Replicas:
		return "all members are ready"
	case s.AwaitsReferences():
		return "all members have restarted with the current Secrets and ConfigMaps"
	case !s.Credentials.InForce() && len(s.Outdated()) > 0 && !s.UserRestarts():
		return "the rollout has ended"
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

func judge(s *situation.Situation) jobs.Verdict {
	expected := jobs.Expected{Deadline: jobs.KindOf(dbv1.ComponentRotation).Deadline(s.Cluster)}
	if s.Engine != nil && s.Engine.Spec.Actions.Credentials != nil {
		expected.Desired = []objects.Child{desired(s)}
	}
	return jobs.Judge(s.Rotation, s.RotationStarted, expected, s.At)
}
