/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const rotation = "0a1b2c3d"

// rotating is a cluster whose Job of a rotation has put the password "next" in force, which the Secret does not have yet.
func rotating(t *testing.T, change func(*dbv1.DatabaseCluster, *state.Observed)) plan.Plan {
	t.Helper()
	c := plans.Orders()
	o := plans.Standing(t, c)
	o.Engine = &dbv1.DatabaseEngine{}
	o.Engine.Name, c.Spec.Engine = "vault-v1", "vault-v1"
	o.Engine.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
	o.Engine.Spec.Actions.Credentials = &dbv1.EngineAction{Command: []string{"vault", "credentials"}}
	o.Engine.Spec.Connection = &dbv1.EngineConnection{Type: "vault", Entries: map[string]dbv1.EngineTemplate{"password": `{{ secret "password" }}`}}
	o.Credentials = state.Credentials{
		Name: "orders-credentials", UID: "s", Generated: true, Cluster: plans.UID, Since: plans.Now.Add(-24 * time.Hour), Rotation: rotation, Request: "now",
		Values: state.Values{"password": []byte("current"), "password." + rotation: []byte("next")},
	}
	o.Rotation, o.RotationStarted = jobs.Job{Name: "orders-rotate-" + rotation, Component: dbv1.ComponentRotation, Succeeded: true}, true
	for _, m := range o.Members {
		o.RotatedMembers = append(o.RotatedMembers, m.Readiness())
	}
	change(c, &o)
	return plans.Decide(c, o)
}

// connectionBefore is the connection Secret with the previous password.
func connectionBefore() *corev1.Secret {
	secret := &corev1.Secret{Type: "servicebinding.io/vault", Data: map[string][]byte{"password": []byte("current")}}
	secret.Name, secret.UID = "orders-connection", "c"
	return secret
}

// forClients returns the password that a plan writes to the connection Secret; "" if it writes none.
func forClients(p plan.Plan) string {
	for _, o := range p.Operations {
		if apply, is := o.(operation.Apply); is && apply.Name() == "orders-connection" {
			encoded, _, _ := unstructured.NestedString(apply.Object.Object, "data", "password")
			password, _ := base64.StdEncoding.DecodeString(encoded)
			return string(password)
		}
	}
	return ""
}

func deleted(c *dbv1.DatabaseCluster, _ *state.Observed) {
	at := plans.Ago(time.Minute)
	c.DeletionTimestamp = &at
	c.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "dump", Type: dbv1.HookCommand, Command: []string{"dump"}}}
}

func TestPasswordsInForceReachTheSecretsAlsoOfAPausedOrDeletedCluster(t *testing.T) {
	const promote, connection, hook = "change Secret orders-credentials: use the new passwords", "create Secret orders-connection", `start deletion hook "dump"`
	running := func(o *state.Observed) {
		o.Rotation.Succeeded, o.Rotation.Active, o.Rotation.Started = false, true, true
	}
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   []string
	}{
		"the cluster runs":   {func(*dbv1.DatabaseCluster, *state.Observed) {}, []string{promote, connection}},
		"the user pauses it": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }, []string{promote, connection}},
		"it is deleted":      {deleted, []string{promote}},
		"it is deleted while the Job runs": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			deleted(c, o)
			running(o)
		}, nil},
		"it is deleted and the Job cannot start": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			deleted(c, o)
			o.Rotation.Succeeded, o.Rotation.Problem, o.Rotation.MadeFrom = false, "cannot be scheduled", "another spec"
		}, []string{hook}},
		"it is deleted while a Job of another spec waits for its next attempt, because an attempt may have changed passwords": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			deleted(c, o)
			running(o)
			o.Rotation.Active, o.Rotation.Code, o.Rotation.MadeFrom = false, 1, "another spec"
		}, nil},
		"it is deleted and the Job has failed": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			deleted(c, o)
			o.Rotation.Succeeded, o.Rotation.Failed = false, true
		}, []string{hook}},
		"it is deleted and a member has started since": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			deleted(c, o)
			o.Members[0].ReadySince = metav1.NewTime(plans.Now)
		}, []string{hook}},
		"it is deleted without hooks": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			deleted(c, o)
			c.Spec.Deletion.Hooks = nil
		}, []string{"scale in to 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := rotating(t, c.change)
			var got []string
			for _, o := range p.Operations {
				if text := o.String(); !strings.HasPrefix(text, "update") {
					got = append(got, text)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("%q, want %q: %s", got, c.want, p.Message)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], c.want[i]) {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
		})
	}
}

// A password that members apply at their next start is no password for clients before. With OnDelete, that may be weeks later.
func TestClientsGetAPasswordAfterTheMembersHaveStartedWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		members string // the references with which the second member has started
		writes  bool
	}{
		"all members have started with it": {"", true},
		"a member has not":                 {"before", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := rotating(t, func(cluster *dbv1.DatabaseCluster, o *state.Observed) {
				cluster.Spec.Credentials.SecretName, cluster.Spec.UpdateStrategy.Type = "mine", dbv1.UpdateOnDelete
				o.Credentials = state.Credentials{Name: "mine", UID: "s", Values: state.Values{"password": []byte("new")}}
				o.Members[1].References = c.members
				o.Connection = connectionBefore()
			})
			if got := forClients(p) == "new"; got != c.writes {
				t.Errorf("clients get the password: %t, want %t", got, c.writes)
			}
		})
	}
}

// A reference that members apply at their next start does not keep clients from the password that a rotation has put in force.
func TestClientsGetWhatMembersHaveInForceWhileAReferenceWaits(t *testing.T) {
	onDelete := func(c *dbv1.DatabaseCluster, o *state.Observed) {
		c.Spec.UpdateStrategy.Type, o.Connection, o.Members[1].References = dbv1.UpdateOnDelete, connectionBefore(), "before"
	}
	if got := forClients(rotating(t, onDelete)); got != "next" {
		t.Errorf("the connection Secret gets the password %q", got)
	}
}
