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
//
// A member that starts meanwhile applies the files that its kubelet has, which may not be current. So a Job counts only for the members
// that were ready when it started, and otherwise runs again.
package rotation

import (
	"cmp"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Plan is the result for the rotation, independent of the other operations of a pass.
type Plan struct {
	Operations operation.List
	// Reason and Message belong to the condition CredentialsRotated; "" if no rotation was requested.
	Reason, Message string
	// RequeueAfter is the time until the next pass if no event occurs; 0 for never.
	RequeueAfter time.Duration
}

// Subject is the rotation of generated credentials.
var Subject = subject.Subject{Read: readRotation, Decide: decide, Transitions: []operation.Transition{
	operation.Reported(dbv1.ConditionCredentialsRotated, metav1.ConditionTrue, "", corev1.EventTypeNormal),
	operation.Reported(dbv1.ConditionCredentialsRotated, metav1.ConditionFalse, dbv1.ReasonRotationFailed, corev1.EventTypeWarning),
}}

func decide(s *situation.Situation) subject.Decision {
	var p Plan
	var d subject.Decision
	if s.Deleting() {
		d.Finish = finish(s)
	} else {
		p = For(s)
		d.Operations, d.Stalled, d.RequeueAfter = p.Operations, p.Stalled(), p.RequeueAfter
	}
	if s.Rotation.AwaitsPod() {
		d.RequeueAfter = situation.Sooner(d.RequeueAfter, situation.ProgressRequeue)
	}
	d.Report = report(s, p)
	return d
}

// finish gives the hooks of a deletion the passwords that the members accept.
func finish(s *situation.Situation) phase.Outcome {
	rotates, over := Finish(s)
	if over {
		return phase.Over
	}
	return phase.Outcome{
		Operations: rotates.Operations, Reason: dbv1.ReasonDeleting,
		RequeueAfter: situation.Sooner(rotates.RequeueAfter, situation.ProgressRequeue),
		Message:      "the hooks need the current passwords: " + rotates.Message,
	}
}

// For decides the next step.
func For(s *situation.Situation) Plan {
	c := s.Credentials
	switch {
	case !s.GeneratesCredentials() || s.CredentialsPending():
		return Plan{}
	case c.Rotation == "" && (!due(s) || s.Replacement != nil): // the passwords in the other volumes would be outdated
		return done(s)
	case c.Edited():
		return abandon(s)
	case s.Engine.Spec.Actions.Credentials == nil, s.NotStarted(), s.Wanted == 0:
		return byRestart(s)
	case c.Rotation == "":
		return begin(s)
	default:
		return proceed(s)
	}
}

// byRestart rotates the passwords of members that read them at their start.
func byRestart(s *situation.Situation) Plan {
	if s.Engine.Spec.Actions.Credentials == nil && len(s.Members) > 0 && s.TemplateBlocked() {
		return rotating("the rotation waits until the operator may restart the members: the condition Stalled reports the cause")
	}
	return restart(s)
}

// proceed continues a rotation that has begun.
func proceed(s *situation.Situation) Plan {
	c := s.Credentials
	switch {
	case !s.RotationInForce():
		return run(s)
	case !c.InForce():
		return promote(s)
	case stage(s) == state.StageRotate:
		return overlap(s)
	default:
		return end(s)
	}
}

// Finish promotes the passwords of a cluster that is being deleted, if its members accept them already: its hooks need them. Over is
// false while that is not known.
func Finish(s *situation.Situation) (p Plan, over bool) {
	c := s.Credentials
	switch {
	case c.Rotation == "" || !c.GeneratedFor(s.Cluster.UID) || c.InForce() || c.Edited() || !s.RotationStarted:
		return Plan{}, true
	case s.RotationInForce():
		return promote(s), false
	case s.Rotation.Ended():
		return Plan{}, true
	}
	r := runJob(s, fmt.Sprintf("Job %s puts new passwords in force", s.Rotation.Name))
	p = rotating(r.Message)
	p.RequeueAfter = r.Left
	unstarted := r.Trouble == jobs.Blocked || r.Step == jobs.Recreate && !r.Job.Started
	return p, unstarted || r.Step == jobs.Lost
}

// due reports whether the user has requested a rotation, or the passwords are old.
func due(s *situation.Situation) bool {
	at := periodEnds(s)
	return request(s) != "" && request(s) != s.Credentials.Request || !at.IsZero() && !s.At.Before(at)
}

// request is the request of the user; "" for none. A refused one stays refused, even if the operator generates the passwords later.
func request(s *situation.Situation) string {
	if row, _ := s.Request(dbv1.RequestRotateCredentials); row.State == dbv1.RequestRefused {
		return ""
	}
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

func stage(s *situation.Situation) state.Stage {
	return s.Credentials.Stage(s.Cluster.Spec.Credentials.Rotation, s.At)
}

// done is the plan while nothing is to be done.
func done(s *situation.Situation) Plan {
	p := Plan{}
	switch {
	case due(s) && s.Replacement != nil:
		p = rotating(fmt.Sprintf("the next rotation starts after DatabaseRestore %s is deleted, because the volumes that it retains have the "+
			"present passwords", s.Replacement.Restore.Name))
	case s.Credentials.Request == "" && s.Credentials.Rotation == "":
	case s.AwaitsReferences():
		p = rotating("the members apply the passwords when they restart")
	case due(s):
		p = rotating("the next rotation starts when the overlap of the last one has ended")
	default:
		p.Reason, p.Message = dbv1.ReasonRotated, fmt.Sprintf("the passwords are in force since %s",
			s.Credentials.Since.UTC().Format(time.RFC3339))
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
	return rotating("generating new passwords", ChangeCredentials{
		Live: s.Credentials, Generate: keys,
		Annotations: map[string]string{dbv1.AnnotationRotation: id,
			dbv1.AnnotationRotationRequest: cmp.Or(request(s), s.Credentials.Request, "period")},
		Why: "generate new passwords",
	})
}

// restart replaces the passwords in the Secret. The members apply them when they start.
func restart(s *situation.Situation) Plan {
	change := ChangeCredentials{
		Live: s.Credentials, Annotations: settled(s), Why: "replace the passwords; the members apply them at their next start",
	}
	if s.Credentials.Rotation == "" {
		change.Generate = engine.Lacking(s.Engine, nil)
	} else {
		change.Promote, change.Remove = true, true
	}
	change.Annotations[dbv1.AnnotationRotationRequest] = cmp.Or(request(s), s.Credentials.Request, "period")
	change.Annotations[dbv1.AnnotationContent], change.Annotations[dbv1.AnnotationContentOfPods] = "", ""
	return rotating("replacing the passwords; the members apply them when they start", change)
}

// settled are the annotations of a Secret without a rotation in progress.
func settled(s *situation.Situation) map[string]string {
	return map[string]string{dbv1.AnnotationRotation: "", dbv1.AnnotationRotated: s.At.UTC().Format(time.RFC3339)}
}

// promote makes the passwords that the members accept the current ones.
func promote(s *situation.Situation) Plan {
	return rotating("the members accept the new passwords", ChangeCredentials{
		Live: s.Credentials, Promote: true, Why: "use the new passwords",
		Annotations: map[string]string{
			dbv1.AnnotationRotated: s.At.UTC().Format(time.RFC3339),
			dbv1.AnnotationContent: s.Credentials.Rotated().Hash(), dbv1.AnnotationContentOfPods: s.Credentials.Content,
		},
	})
}

// overlap waits until clients have had time to read the new passwords.
func overlap(s *situation.Situation) Plan {
	p, ends := done(s), s.Credentials.OverlapEnds(s.Cluster.Spec.Credentials.Rotation)
	p.Message += fmt.Sprintf("; the previous passwords are accepted until %s, if the engine can", ends.UTC().Format(time.RFC3339))
	p.RequeueAfter = ends.Sub(s.At)
	return p
}

func end(s *situation.Situation) Plan {
	p := done(s)
	p.Operations = operation.List{ChangeCredentials{
		Live: s.Credentials, Remove: true, Annotations: map[string]string{dbv1.AnnotationRotation: ""}, Why: "end the rotation",
	}}
	return p
}

// abandon ends a rotation whose passwords the user has replaced since clients have them. The members apply those of the user when they
// restart.
func abandon(s *situation.Situation) Plan {
	p := end(s)
	p.Reason, p.Message = dbv1.ReasonRotating, "the members apply the passwords when they restart"
	return p
}

func rotating(message string, all ...operation.Operation) Plan {
	return Plan{Operations: all, Reason: dbv1.ReasonRotating, Message: message}
}
