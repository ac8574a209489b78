/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/rotation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const id = "0a1b2c3d"

// generated returns a converged cluster whose passwords are one day old.
func generated(t *testing.T) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	e := &dbv1.DatabaseEngine{}
	e.Name = "vault-v1"
	e.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
	e.Spec.Actions.Credentials = &dbv1.EngineAction{Command: []string{"vault", "credentials"}}
	c := plans.Orders()
	c.Spec.Engine = e.Name
	o := plans.Standing(t, c)
	o.Engine = e
	o.Credentials = state.Credentials{
		Name: "orders-credentials", UID: "s", Generated: true, Cluster: plans.UID, Since: plans.Now.Add(-24 * time.Hour),
		Values: state.Values{"password": []byte("current")},
	}
	return c, o
}

// requested sets the annotation.
func requested(c *dbv1.DatabaseCluster, _ *state.Observed) {
	c.Annotations = map[string]string{dbv1.AnnotationRotateCredentials: "now"}
}

// begun is a rotation whose Secret has the next password.
func begun(changes ...func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
	return func(c *dbv1.DatabaseCluster, o *state.Observed) {
		requested(c, o)
		o.Credentials.Rotation, o.Credentials.Request, o.Credentials.Values["password."+id] = id, "now", []byte("next")
		for _, change := range changes {
			change(c, o)
		}
	}
}

// promoted is a rotation whose passwords clients have, for that long.
func promoted(age time.Duration, changes ...func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
	return begun(append([]func(*dbv1.DatabaseCluster, *state.Observed){func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		o.Credentials.Values["password"], o.Credentials.Since = []byte("next"), plans.Now.Add(-age)
		o.Credentials.Values["password."+id+".previous"] = []byte("current")
	}}, changes...)...)
}

// edited is such a rotation, one minute old, after the user has replaced a password.
func edited(changes ...func(*dbv1.DatabaseCluster, *state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
	return promoted(time.Minute, append(changes, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		o.Credentials.Promoted = o.Credentials.Rotated().Hash()
		o.Credentials.Values["password"] = []byte("mine")
	})...)
}

// succeeded is a Job for the members as they are.
func succeeded(c *dbv1.DatabaseCluster, o *state.Observed) {
	job(jobs.Job{Succeeded: true})(c, o)
	for _, m := range o.Members {
		o.RotatedMembers = append(o.RotatedMembers, m.Readiness())
	}
}

// restarted is a cluster with a member that is ready for that long.
func restarted(age time.Duration) func(*dbv1.DatabaseCluster, *state.Observed) {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[1].ReadySince = plans.Ago(age) }
}

func job(task jobs.Job) func(*dbv1.DatabaseCluster, *state.Observed) {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		task.Name, task.Component = "j", dbv1.ComponentRotation
		o.Rotation, o.RotationStarted = task, true
	}
}

func TestTheNextStepOfARotationFollowsFromTheSecretAndTheJob(t *testing.T) {
	period := func(hours int) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Spec.Credentials.Rotation.Period = &metav1.Duration{Duration: time.Duration(hours) * time.Hour}
		}
	}
	withoutAction := func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		o.Engine.Spec.Actions.Credentials = nil
	}
	const (
		generate = "change Secret orders-credentials: generate new passwords"
		restart  = "change Secret orders-credentials: replace the passwords; the members apply them at their next start"
		finish   = "change Secret orders-credentials: end the rotation"
		rotate   = "create Job orders-rotate-" + id
		retire   = "create Job orders-retire-" + id
		again    = "delete Job j: a member has started since"
	)
	for name, c := range map[string]struct {
		change             func(*dbv1.DatabaseCluster, *state.Observed)
		operations, reason string
		requeueAfter       time.Duration
	}{
		"nothing is requested": {func(*dbv1.DatabaseCluster, *state.Observed) {}, "", "", 0},
		"the user requests it": {requested, generate, dbv1.ReasonRotating, 0},
		"the request was refused": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			requested(c, o)
			c.Status.Requests = []dbv1.ClusterRequestStatus{{Type: dbv1.RequestRotateCredentials, Request: "now", State: dbv1.RequestRefused}}
		}, "", "", 0},
		"another request was refused": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			requested(c, o)
			c.Status.Requests = []dbv1.ClusterRequestStatus{{Type: dbv1.RequestRotateCredentials, Request: "before", State: dbv1.RequestRefused}}
		}, generate, dbv1.ReasonRotating, 0},
		"the request is executed":       {func(c *dbv1.DatabaseCluster, o *state.Observed) { requested(c, o); o.Credentials.Request = "now" }, "", dbv1.ReasonRotated, 0},
		"the passwords are old":         {period(24), generate, dbv1.ReasonRotating, 0},
		"the passwords are not old yet": {period(25), "", "", time.Hour},
		"the Secret is of the user": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			requested(c, o)
			c.Spec.Credentials.SecretName = "mine"
		}, "", "", 0},
		"the engine has no action":           {func(c *dbv1.DatabaseCluster, o *state.Observed) { requested(c, o); withoutAction(c, o) }, restart, dbv1.ReasonRotating, 0},
		"no member runs":                     {func(c *dbv1.DatabaseCluster, o *state.Observed) { requested(c, o); c.Spec.Hibernated = true }, restart, dbv1.ReasonRotating, 0},
		"the engine lost its action":         {begun(withoutAction), restart, dbv1.ReasonRotating, 0},
		"the next password is stored":        {begun(), rotate, dbv1.ReasonRotating, 0},
		"a member is not ready":              {begun(func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[0].Ready = false }), "", dbv1.ReasonRotating, 0},
		"the Job runs":                       {begun(job(jobs.Job{Active: true, Started: true})), "", dbv1.ReasonRotating, 0},
		"the Job has other inputs":           {begun(job(jobs.Job{MadeFrom: "others"})), "delete Job j: its configuration has changed, so the operator re-creates it", dbv1.ReasonRotating, 0},
		"the Job succeeded":                  {begun(succeeded), "change Secret orders-credentials: use the new passwords", dbv1.ReasonRotating, 0},
		"a member has started after the Job": {begun(succeeded, restarted(time.Second)), again, dbv1.ReasonRotating, 0},
		"a member is down after the Job": {begun(succeeded, restarted(time.Second), func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[1].Ready = false
		}), "change Secret orders-credentials: use the new passwords", dbv1.ReasonRotating, 0},
		"a rollout runs": {begun(func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 0) }), "", dbv1.ReasonRotating, 0},
		"the user restarts members": {begun(func(c *dbv1.DatabaseCluster, o *state.Observed) {
			plans.Outdated(o, 0)
			c.Spec.UpdateStrategy.Type = dbv1.UpdateOnDelete
		}), rotate, dbv1.ReasonRotating, 0},
		"a member has not restarted with the current Secret": {begun(func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[1].References = "others"
		}), "", dbv1.ReasonRotating, 0},
		"the Job failed": {begun(job(jobs.Job{Failed: true, Failure: "refused"})), "", dbv1.ReasonRotationFailed, 0},
		"the user edits a password during the overlap": {edited(succeeded), finish, dbv1.ReasonRotating, 0},
		"a member restarts after that edit":            {edited(succeeded, restarted(time.Second)), finish, dbv1.ReasonRotating, 0},
		"no member runs after that edit": {edited(func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Spec.Hibernated = true
		}), finish, dbv1.ReasonRotating, 0},
		"the passwords overlap": {promoted(time.Minute, succeeded), "", dbv1.ReasonRotated, 9 * time.Minute},
		"another rotation is requested in the overlap": {promoted(time.Minute, succeeded, func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Annotations = map[string]string{dbv1.AnnotationRotateCredentials: "again"}
		}), "", dbv1.ReasonRotating, 9 * time.Minute},
		"a member has started during the overlap":      {promoted(time.Minute, succeeded, restarted(time.Second)), again, dbv1.ReasonRotating, 0},
		"the Job is gone during the overlap":           {promoted(time.Minute), rotate, dbv1.ReasonRotating, 0},
		"the overlap is over":                          {promoted(10 * time.Minute), retire, dbv1.ReasonRotated, 0},
		"the previous passwords are gone":              {promoted(10*time.Minute, succeeded), finish, dbv1.ReasonRotated, 0},
		"a member has started after they were removed": {promoted(10*time.Minute, succeeded, restarted(time.Second)), again, dbv1.ReasonRotated, 0},
		"the previous passwords cannot be removed":     {promoted(10*time.Minute, job(jobs.Job{Failed: true, Failure: "refused"})), "", dbv1.ReasonRotationFailed, 0},
		"the Job cannot start":                         {begun(job(jobs.Job{Refusal: "quota", Remedy: "Raise the quota"})), "", dbv1.ReasonRotationFailed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := generated(t)
			c.change(cluster, &observed)
			p := rotation.For(situation.Of(cluster, observed))
			var texts []string
			for _, o := range p.Operations {
				texts = append(texts, o.String())
			}
			got := strings.Join(texts, ", ")
			if got != c.operations || p.Reason != c.reason || p.RequeueAfter != c.requeueAfter {
				t.Errorf("%q, %s (%s), again in %s; want %q, %s, %s", got, p.Reason, p.Message, p.RequeueAfter, c.operations, c.reason, c.requeueAfter)
			}
		})
	}
}

func TestARotationDoesNotChangeTheHashOfThePods(t *testing.T) {
	before := state.Values{"password": []byte("current")}
	during := state.Values{"password": []byte("current"), "password." + id: []byte("next")}
	if before.Hash() != state.Current(during, id).Hash() {
		t.Error("the next password changes the hash")
	}
	c := state.Credentials{Values: during, Rotation: id}
	if got := string(c.Rotated()["password"]); got != "next" || c.InForce() {
		t.Errorf("after the rotation the password is %q", got)
	}
}

// The volumes that a DatabaseRestore retains have the present passwords.
func TestNoRotationBeginsWhileADatabaseRestoreExists(t *testing.T) {
	retains := func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		o.Replacement = &state.Replacement{Restore: dbv1.ReplacementRestoreRef{Name: "yesterday"}}
	}
	for name, test := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		says   string
		begins bool
	}{
		"one that is asked for waits": {requested, "the next rotation starts after DatabaseRestore yesterday is deleted", false},
		"one that has begun goes on":  {begun(), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			c, o := generated(t)
			test.change(c, &o)
			retains(c, &o)
			p := rotation.For(situation.Of(c, o))
			if !strings.Contains(p.Message, test.says) || (len(p.Operations) > 0) != test.begins {
				t.Errorf("%d operations, %q", len(p.Operations), p.Message)
			}
		})
	}
}
