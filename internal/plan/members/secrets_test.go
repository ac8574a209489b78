/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// generating changes a converged cluster to one with an engine that generates a password and describes a connection.
func generating(c *dbv1.DatabaseCluster, o *state.Observed) {
	c.Spec.Engine, o.Engine = "ledger-v1", ledger()
	o.Engine.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
	o.Engine.Spec.Connection = &dbv1.EngineConnection{Type: "ledger", Entries: map[string]dbv1.EngineTemplate{"password": `{{ secret "password" }}`}}
	o.References = []pods.Reference{{Kind: "Secret", Name: "orders-credentials", Where: "spec.credentials.secretName"}}
	o.StatefulSet, o.Members = nil, nil
}

// generated adds the Secret with generated credentials.
func generated(cluster string, keys ...string) func(*state.Observed) {
	return func(o *state.Observed) {
		o.Credentials = state.Credentials{Name: "orders-credentials", UID: "s", Generated: true, Cluster: plans.UID, Values: state.Values{}}
		if cluster != "" {
			o.Credentials.Cluster = "another"
		}
		for _, key := range keys {
			o.Credentials.Values[key] = []byte("hidden")
		}
		o.References[0].Found, o.References[0].Keys = true, keys
	}
}

func TestMembersStartAfterTheirCredentialsAndTheConnectionFollows(t *testing.T) {
	after := func(changes ...func(*state.Observed)) func(*dbv1.DatabaseCluster, *state.Observed) {
		return func(c *dbv1.DatabaseCluster, o *state.Observed) {
			generating(c, o)
			for _, change := range changes {
				change(o)
			}
		}
	}
	const both = "create StatefulSet orders\ncreate Secret orders-connection\n" +
		"Applying: create StatefulSet orders, create Secret orders-connection\n"
	decideEach(t, map[string]scenario{
		"the Secret is created before the members": {
			after(), "create Secret orders-credentials with generated password\n" +
				"Applying: create Secret orders-credentials with generated password\n",
		},
		"then come the members and the connection": {after(generated("", "password")), both},
		"a key that is missing is added": {
			after(generated("", "other")), "add generated password to Secret orders-credentials\n" +
				"Applying: add generated password to Secret orders-credentials\n",
		},
		"the Secret of a previous cluster is adopted": {
			after(generated("previous", "password")), "adopt Secret orders-credentials of the previous cluster of the same name\n" +
				"create StatefulSet orders\ncreate Secret orders-connection\n" +
				"Applying: adopt Secret orders-credentials of the previous cluster of the same name, create StatefulSet orders, create Secret orders-connection\n",
		},
		"a Secret of another owner is not used": {
			after(generated("", "password"), func(o *state.Observed) {
				o.Foreign = []state.Ref{{Kind: "Secret", Name: "orders-credentials"}}
			}),
			"WaitingForReference: members wait for Secret orders-credentials with generated credentials\nagain in 10s\nSTALLED NameConflict\n",
		},
		"a connection of another owner is left alone": {
			after(generated("", "password"), func(o *state.Observed) {
				o.Foreign = []state.Ref{{Kind: "Secret", Name: "orders-connection"}}
			}),
			"create StatefulSet orders\nApplying: create StatefulSet orders\nagain in 10s\nSTALLED NameConflict\n",
		},
		"a connection of another type is replaced": {
			after(generated("", "password"), func(o *state.Observed) {
				o.Connection = &corev1.Secret{Type: "servicebinding.io/other"}
				o.Connection.Name, o.Connection.UID = "orders-connection", "c"
			}),
			"create StatefulSet orders\ndelete Secret orders-connection: the engine describes another connection\n" +
				"Applying: create StatefulSet orders\n",
		},
		"an engine without a connection has none": {
			after(generated("", "password"), func(o *state.Observed) {
				o.Engine.Spec.Connection = nil
				o.Connection = &corev1.Secret{}
				o.Connection.Name, o.Connection.UID = "orders-connection", "c"
			}),
			"create StatefulSet orders\ndelete Secret orders-connection: the engine describes another connection\n" +
				"Applying: create StatefulSet orders\n",
		},
	})
}
