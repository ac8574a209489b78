/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const dangling1, dangling2 = "--cache=$(DBC_PARAM_CASH)", "/dbc/scripts/none"

// flawed has a flaw in each field of its container, and in an action.
func flawed() *dbv1.DatabaseEngine {
	e := ledger()
	e.Spec.Container.Command, e.Spec.Container.Args = []string{"ledger", dangling2}, []string{dangling1}
	e.Spec.Container.Env = []dbv1.EngineVariable{{Name: "HOME", Value: "$(DBC_PARAM_HOME)"}}
	e.Spec.Container.DataPath = "/dbc"
	e.Spec.Container.Probes = dbv1.Probes{Startup: probe(dangling2), Readiness: probe(dangling2), Liveness: probe(dangling2)}
	e.Spec.Actions.Backup = aScript("bakcup")
	return e
}

// runsIt is the container of members that an operator made for a cluster of an engine.
func runsIt(cluster *dbv1.DatabaseCluster, declared *dbv1.DatabaseEngine) *corev1.Container {
	spec := Resolve(cluster, declared).Spec
	return &corev1.Container{
		Command: spec.Command, Args: spec.Args, Env: spec.Env,
		StartupProbe: spec.Probes.Startup, ReadinessProbe: spec.Probes.Readiness, LivenessProbe: spec.Probes.Liveness,
	}
}

func TestWhatMembersRunWithAlreadyIsNotHeldAgainstThem(t *testing.T) {
	cluster, declared := orders(), flawed()
	cluster.Spec.Backup = &dbv1.Backup{}
	if reason, message := Refusal(cluster, declared, nil); reason != dbv1.ReasonEngineInvalid || strings.Count(message, "spec.container.") != 7 || !strings.Contains(message, "bakcup") {
		t.Fatalf("a new cluster is told %s: %s", reason, message)
	}
	running := runsIt(cluster, declared)
	cluster.Spec.Image = "another:2"
	for _, given := range []*dbv1.DatabaseCluster{cluster, Resolve(cluster, declared)} {
		if reason, message := Refusal(given, declared, running); reason != "" {
			t.Errorf("a cluster that runs is refused as %s: %s", reason, message)
		}
	}
	// What is wrong for another reason still is.
	cluster.Spec.Parameters = map[string]string{"cash": "1"}
	if reason, _ := Refusal(cluster, declared, running); reason != dbv1.ReasonInvalidParameter {
		t.Errorf("a parameter that there is not: %q", reason)
	}
}

func TestARunningClusterIsNotMovedToAWrongEngine(t *testing.T) {
	cluster := orders()
	running := runsIt(cluster, ledger())
	wrongly := ledger()
	wrongly.Spec.Container.Args = []string{"fine", dangling1}
	reason, message := Refusal(cluster, wrongly, running)
	if want := "spec.container.args[1] refers to $(DBC_PARAM_CASH)"; reason != dbv1.ReasonEngineInvalid || !strings.Contains(message, want) {
		t.Errorf("%s: %s", reason, message)
	}
}

func TestWhatAClusterSaysItselfIsNotHeldAgainstIt(t *testing.T) {
	cluster := orders()
	spec := &cluster.Spec
	spec.Command, spec.DataPath, spec.Env = []string{"mine"}, "/mine", []corev1.EnvVar{{Name: "HOME", Value: "/mine"}}
	spec.Probes = dbv1.Probes{Startup: probe("mine"), Readiness: probe("mine"), Liveness: probe("mine")}
	for _, given := range []*dbv1.DatabaseCluster{cluster, Resolve(cluster, flawed())} {
		if reason, message := Refusal(given, flawed(), nil); reason != "" {
			t.Errorf("%s: %s", reason, message)
		}
	}
	spec.Probes.Liveness = nil
	if _, message := Refusal(cluster, flawed(), nil); !strings.HasPrefix(message, wrong+"spec.container.probes.liveness") || strings.Count(message, "spec.container") != 1 {
		t.Errorf("without a probe of its own it is told %q", message)
	}
}
