/*
SPDX-License-Identifier: Apache-2.0
*/

// Package rotation decides how generated passwords are replaced. Each step follows from the Secret and the Job that were observed, so
// an interrupted rotation continues:
//
//  1. The Secret gets new passwords beside the current ones.
//  2. A Job puts them in force. Where the engine can, the database accepts both.
//  3. The Secret and the connection Secret have the new passwords as the current ones.
//  4. After the overlap, a Job removes the previous passwords from the database.
package rotation

import (
	"cmp"
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/action"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// DefaultOverlap is how long the database also accepts the previous passwords. The kubelet needs about two minutes to bring a changed
// Secret into running pods.
const DefaultOverlap = 10 * time.Minute

// Plan is the result for the rotation, independent of the other operations of a pass.
type Plan struct {
	Operations operation.List
	// Reason and Message belong to the condition CredentialsRotated; "" if no rotation was requested.
	Reason, Message string
	// RequeueAfter is the time until the next pass if no event occurs; 0 for never.
	RequeueAfter time.Duration
}

// For decides the next step.
func For(s *situation.Situation) Plan {
	c := s.Credentials
	switch {
	case !s.GeneratesCredentials() || s.CredentialsPending():
		return Plan{}
	case c.Rotation == "" && !due(s):
		return done(s)
	case s.Engine.Spec.Actions.Credentials == nil, s.NotStarted(), s.Wanted == 0:
		return restart(s)
	case c.Rotation == "":
		return begin(s)
	case !c.InForce():
		return putInForce(s)
	case s.At.Before(overlapEnds(s)):
		p := done(s)
		p.Message += fmt.Sprintf("; the previous ones are accepted until %s, if the engine can", overlapEnds(s).UTC().Format(time.RFC3339))
		p.RequeueAfter = overlapEnds(s).Sub(s.At)
		return p
	default:
		return retire(s)
	}
}

// due reports whether the user has requested a rotation, or the passwords are old.
func due(s *situation.Situation) bool {
	at := periodEnds(s)
	return request(s) != "" && request(s) != s.Credentials.Request || !at.IsZero() && !s.At.Before(at)
}

func request(s *situation.Situation) string {
	return s.Cluster.Annotations[dbv1.AnnotationRotateCredentials]
}

// periodEnds is when the passwords are to be replaced; zero for never.
func periodEnds(s *situation.Situation) time.Time {
	period := s.Cluster.Spec.Credentials.Rotation.Period
	if period == nil {
		return time.Time{}
	}
	return s.Credentials.Since.Add(period.Duration)
}

func overlapEnds(s *situation.Situation) time.Time {
	overlap := DefaultOverlap
	if asked := s.Cluster.Spec.Credentials.Rotation.Overlap; asked != nil {
		overlap = asked.Duration
	}
	return s.Credentials.Since.Add(overlap)
}

// done is the plan while nothing is to be done.
func done(s *situation.Situation) Plan {
	p := Plan{}
	if s.Credentials.Request != "" || s.Credentials.Rotation != "" {
		p.Reason, p.Message = dbv1.ReasonRotated, fmt.Sprintf("the passwords are in force since %s", s.Credentials.Since.UTC().Format(time.RFC3339))
	}
	if at := periodEnds(s); !at.IsZero() && at.After(s.At) {
		p.RequeueAfter = at.Sub(s.At)
	}
	return p
}

// begin adds new passwords to the Secret. They are stored before any member has them, so they cannot be lost.
func begin(s *situation.Situation) Plan {
	id := naming.RotationID(s.Cluster.UID, request(s), s.Credentials.Rotated().Hash())
	keys := engine.Lacking(s.Engine, nil)
	for i := range keys {
		keys[i].Name = state.RotatedKey(keys[i].Name, id)
	}
	return rotating("generating new passwords", operation.ChangeCredentials{
		Live: s.Credentials, Generate: keys,
		Annotations: map[string]string{dbv1.AnnotationRotation: id, dbv1.AnnotationRotationRequest: cmp.Or(request(s), s.Credentials.Request, "period")},
		Why:         "generate new passwords",
	})
}

// restart replaces the passwords in the Secret. The members apply them when they start.
func restart(s *situation.Situation) Plan {
	change := operation.ChangeCredentials{
		Live: s.Credentials, Annotations: settled(s), Why: "replace the passwords; the members apply them at their next start",
	}
	if s.Credentials.Rotation == "" {
		change.Generate = engine.Lacking(s.Engine, nil)
	} else {
		change.Promote = s.Credentials.Rotation
	}
	change.Annotations[dbv1.AnnotationRotationRequest] = cmp.Or(request(s), s.Credentials.Request, "period")
	change.Annotations[dbv1.AnnotationContent], change.Annotations[dbv1.AnnotationContentOfPods] = "", ""
	return rotating("replacing the passwords; the members apply them when they start", change)
}

// settled are the annotations of a Secret without a rotation in progress.
func settled(s *situation.Situation) map[string]string {
	return map[string]string{dbv1.AnnotationRotation: "", dbv1.AnnotationRotated: s.At.UTC().Format(time.RFC3339)}
}

// putInForce runs the Job that gives the new passwords to the members, then makes them the current ones.
func putInForce(s *situation.Situation) Plan {
	v, job := judge(s)
	switch v.Standing {
	case action.Succeeded:
		return rotating("the members accept the new passwords", operation.ChangeCredentials{
			Live: s.Credentials, Promote: s.Credentials.Rotation, Keep: true, Why: "use the new passwords",
			Annotations: map[string]string{
				dbv1.AnnotationRotated: s.At.UTC().Format(time.RFC3339),
				dbv1.AnnotationContent: s.Credentials.Rotated().Hash(), dbv1.AnnotationContentOfPods: s.Credentials.Content,
			},
		})
	case action.Failed, action.Lost:
		return Plan{Reason: dbv1.ReasonRotationFailed, Message: fmt.Sprintf(
			"Job %s could not put the new passwords in force: %s. Clients use the previous ones. See kubectl logs job/%[1]s, then delete the Job to try again",
			v.Task.Job, v.Cause)}
	case action.Absent, action.Terminating, action.Superseded, action.Blocked, action.Failing, action.Unmet, action.Retrying, action.Running:
	}
	return run(s, v, job, "puts the new passwords in force")
}

// retire runs the Job that removes the previous passwords from the database. If a member does not accept the new ones, because it
// has restarted with files that were not current, another restart applies them.
func retire(s *situation.Situation) Plan {
	v, job := judge(s)
	end := operation.ChangeCredentials{
		Live: s.Credentials, Promote: s.Credentials.Rotation, Annotations: map[string]string{dbv1.AnnotationRotation: ""}, Why: "end the rotation",
	}
	p := done(s)
	switch v.Standing {
	case action.Failed, action.Lost:
		end.Annotations[dbv1.AnnotationContent], end.Annotations[dbv1.AnnotationContentOfPods] = "", ""
		end.Why = "restart the members, because one does not accept the passwords"
	case action.Succeeded:
	case action.Absent, action.Terminating, action.Superseded, action.Blocked, action.Failing, action.Unmet, action.Retrying, action.Running:
		running := run(s, v, job, "removes the previous passwords")
		running.Reason, running.Message = p.Reason, p.Message+"; "+running.Message
		return running
	}
	p.Operations = operation.List{end}
	return p
}

func judge(s *situation.Situation) (action.Verdict, resources.Child) {
	job := resources.RotationJob(s.Cluster, s.Engine, s.Credentials)
	expected := action.Expected{Desired: []resources.Child{job}, Deadline: resources.ActionKindOf(dbv1.ComponentRotation).Deadline(s.Cluster)}
	return action.Judge(s.Rotation, s.RotationStarted, expected, s.At), job
}

// run starts the Job as soon as all members are ready, and waits until it has ended.
func run(s *situation.Situation, v action.Verdict, job resources.Child, does string) Plan {
	switch {
	case v.Standing == action.Absent && s.Ready() < s.Cluster.Spec.Replicas:
		return rotating("the rotation waits until all members are ready")
	case v.Standing == action.Absent:
		return rotating(fmt.Sprintf("%s %s", job, does), operation.StartRotation{Child: job})
	case v.Standing == action.Superseded:
		return rotating(fmt.Sprintf("%s starts again, because its configuration has changed", job),
			operation.Delete{Objects: []operation.Removal{operation.Recreation(v.Task)}})
	}
	p := rotating(v.Sentence(fmt.Sprintf("%s %s", job, does), ""))
	p.RequeueAfter = v.Left
	return p
}

func rotating(message string, all ...operation.Operation) Plan {
	return Plan{Operations: all, Reason: dbv1.ReasonRotating, Message: message}
}
