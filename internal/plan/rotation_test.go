/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
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
	at := plans.Ago(time.Second)
	o.Rotation, o.RotationStarted = state.Task{Job: "orders-rotate-" + rotation, Component: dbv1.ComponentRotation, Succeeded: true, StartTime: &at}, true
	change(c, &o)
	return plans.Decide(c, o)
}

// connectionBefore is the connection Secret with the previous password.
func connectionBefore() *corev1.Secret {
	secret := &corev1.Secret{Type: "servicebinding.io/vault", Data: map[string][]byte{"password": []byte("current")}}
	secret.Name, secret.UID = "orders-connection", "c"
	return secret
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
			writes := false
			for _, o := range p.Operations {
				apply, is := o.(operation.Apply)
				writes = writes || is && apply.Name() == "orders-connection"
			}
			if writes != c.writes {
				t.Errorf("writes the connection Secret: %t, want %t", writes, c.writes)
			}
		})
	}
}
