/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"reflect"
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestCredentialsAreGeneratedIfTheEngineCanAndTheClusterNamesNone(t *testing.T) {
	generated, given := dbv1.EngineSecretKey{Name: "password", Generate: &dbv1.EngineSecretValue{}}, dbv1.EngineSecretKey{Name: "license"}
	for name, c := range map[string]struct {
		secret string
		keys   []dbv1.EngineSecretKey
		want   string
	}{
		"all keys can be generated":      {"", []dbv1.EngineSecretKey{generated}, "orders-credentials"},
		"the cluster names a Secret":     {"mine", []dbv1.EngineSecretKey{generated}, "mine"},
		"the user has to provide a key":  {"", []dbv1.EngineSecretKey{generated, given}, ""},
		"the engine needs no credential": {"", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, e := orders(), ledger()
			cluster.Spec.Credentials.SecretName, e.Spec.SecretKeys = c.secret, c.keys
			if got := Resolve(cluster, e).Spec.Credentials.SecretName; got != c.want {
				t.Errorf("the Secret is %q, want %q", got, c.want)
			}
			reason, _ := Refusal(cluster, e, false)
			if wants := c.want == "" && len(c.keys) > 0; (reason == dbv1.ReasonSecretIncomplete) != wants {
				t.Errorf("the refusal is %q", reason)
			}
		})
	}
	if got := Resolve(orders(), nil).Spec.Credentials.SecretName; got != "orders" {
		t.Errorf("without an engine the Secret is %q", got)
	}
}

func TestOnlyTheKeysThatASecretLacksAreGenerated(t *testing.T) {
	e := ledger()
	e.Spec.SecretKeys = []dbv1.EngineSecretKey{
		{Name: "a", Generate: &dbv1.EngineSecretValue{}},
		{Name: "b", Generate: &dbv1.EngineSecretValue{Length: 20, Characters: "0123456789abcdef"}},
		{Name: "c"},
	}
	got := Lacking(e, []string{"a"})
	if want := []GeneratedKey{{"b", 20, "0123456789abcdef"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	got = Lacking(e, []string{"b"})
	if want := []GeneratedKey{{"a", 32, defaultCharacters}}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestFewDifferentCharactersAreAFlaw(t *testing.T) {
	e := ledger()
	e.Spec.SecretKeys[0].Generate = &dbv1.EngineSecretValue{Characters: "aaaaaaaaaaaa"}
	if got := Declared(e); !strings.Contains(got, "spec.secretKeys[password].generate.characters has fewer than 10 different characters") {
		t.Errorf("got %q", got)
	}
}
