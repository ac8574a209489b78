/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func pooling() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "any"
	declared.Spec.Scripts = map[string]dbv1.EngineScript{"pooler": "#!/bin/sh"}
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{{Name: "pooler-password"}}
	declared.Spec.Companions = []dbv1.EngineCompanion{{
		Name: "pooler", Scripts: []string{"pooler"}, SecretKeys: []string{"pooler-password"}, Parameters: []dbv1.EngineCompanionParameter{
			{Name: "mode", Default: "fast", Enum: []string{"fast", "safe"}}, {Name: "size", Default: "", Pattern: "[0-9]+"},
		},
	}}
	return declared
}

func TestTheValuesOfACompanionAreThoseThatTheEngineOffers(t *testing.T) {
	declared := pooling()
	for value, want := range map[[2]string]string{
		{"mode", "safe"}: "", {"mode", "slow"}: "it must be one of fast, safe", {"size", "12"}: "", {"size", ""}: "", {"size", "many"}: "it must match [0-9]+",
		{"sise", "12"}: `which the companion pooler of DatabaseEngine any does not offer. It offers mode, size`,
	} {
		got := CompanionParameterProblem("any", Companion(declared, "pooler"), map[string]string{value[0]: value[1]})
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%v: %q", value, got)
		}
	}
}

func TestACompanionThatLacksAPartOfItsEngineIsReported(t *testing.T) {
	for want, change := range map[string]func(*dbv1.DatabaseEngineSpec){
		"":                            func(*dbv1.DatabaseEngineSpec) {},
		"add the script":              func(s *dbv1.DatabaseEngineSpec) { s.Scripts = nil },
		"add the key":                 func(s *dbv1.DatabaseEngineSpec) { s.SecretKeys = nil },
		"is not a regular expression": func(s *dbv1.DatabaseEngineSpec) { s.Companions[0].Parameters[1].Pattern = "(" },
	} {
		declared := pooling()
		change(&declared.Spec)
		if got := CompanionProblem(declared, Companion(declared, "pooler")); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if Companion(pooling(), "other") != nil || Companion(nil, "pooler") != nil {
		t.Error("found a companion that the engine does not have")
	}
}

func TestMembersNeedNoKeyThatOnlyCompanionsUse(t *testing.T) {
	declared, cluster := pooling(), &dbv1.DatabaseCluster{}
	declared.Spec.SecretKeys = []dbv1.EngineSecretKey{
		{Name: "password", Generate: &dbv1.EngineSecretValue{}},
		{Name: "pooler-password", Generate: &dbv1.EngineSecretValue{}, UsedBy: dbv1.UsedByCompanions},
	}
	cluster.Spec.Credentials.SecretName = "orders"
	if got := KeyProblem(cluster, declared, []string{"password"}, nil, nil, nil); got != "" {
		t.Errorf("without the key: %s", got)
	}
	if got := KeyProblem(cluster, declared, []string{"password", "pooler-password"}, nil, []string{"pooler-password"}, nil); !strings.Contains(got, "pooler-password") {
		t.Errorf("with a key that cannot be used: %q", got)
	}
}
