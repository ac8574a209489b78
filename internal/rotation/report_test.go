/*
SPDX-License-Identifier: Apache-2.0
*/

package rotation

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func TestTheStatusHasTheLastRotationThatClientsHave(t *testing.T) {
	before := &dbv1.ClusterCredentialsStatus{LastRotationRequest: "first"}
	current, next := state.Values{"password": []byte("a")}, state.Values{"password": []byte("a"), "password.0a1b2c3d": []byte("b")}
	for name, c := range map[string]struct {
		credentials state.Credentials
		outdated    bool
		want        string
	}{
		"the passwords were never rotated":       {state.Credentials{Values: current}, false, ""},
		"they were rotated":                      {state.Credentials{Values: current, Request: "second"}, false, "second"},
		"they are being rotated":                 {state.Credentials{Values: next, Rotation: "0a1b2c3d", Request: "second"}, false, "first"},
		"a member has not applied them yet":      {state.Credentials{Values: current, Request: "second"}, true, "first"},
		"the request is longer than fits inside": {state.Credentials{Values: current, Request: strings.Repeat("x", 300)}, false, strings.Repeat("x", 253)},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &dbv1.DatabaseCluster{}
			cluster.Spec.Engine, cluster.Status.Credentials = "vault-v1", before
			s := &situation.Situation{Declared: cluster, Cluster: cluster, Observed: state.Observed{
				Credentials: c.credentials, Engine: &dbv1.DatabaseEngine{}, Members: []state.Member{{Name: "orders-0"}, {Name: "orders-1", Ordinal: 1}},
			}}
			s.Engine.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "password", Generate: &dbv1.EngineSecretValue{}}}
			if c.outdated {
				s.Members[1].References = "before"
			}
			got := ""
			if s := recorded(s); s != nil {
				got = s.LastRotationRequest
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
