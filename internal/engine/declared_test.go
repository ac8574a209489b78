/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	wrong     = "DatabaseEngine ledger-v1 is invalid: "
	corrected = ". Create a corrected DatabaseEngine under another name, and set spec.engine of the clusters to it"
)

// hasFlaw fails a test unless this is the only flaw of a declaration; "" for no flaw.
func hasFlaw(t *testing.T, declared *dbv1.DatabaseEngine, want string) {
	t.Helper()
	if want != "" {
		want = wrong + want + corrected
	}
	if got := Declared(declared, Actions...); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func aScript(name string) *dbv1.EngineAction {
	return &dbv1.EngineAction{Command: []string{"/dbc/scripts/" + name}}
}

func TestAFlawOfADeclarationIsReportedWithFieldValueAndRemedy(t *testing.T) {
	args := func(all ...string) func(*dbv1.DatabaseEngineSpec) {
		return func(s *dbv1.DatabaseEngineSpec) { s.Container.Args = all }
	}
	at := func(path string) func(*dbv1.DatabaseEngineSpec) {
		return func(s *dbv1.DatabaseEngineSpec) { s.Container.DataPath = path }
	}
	scripts := func(bytes int, of string) func(*dbv1.DatabaseEngineSpec) {
		return func(s *dbv1.DatabaseEngineSpec) {
			const first = "#!/bin/perl\n"
			s.Scripts["backup"] = dbv1.EngineScript(first + strings.Repeat(of, (bytes-len(first))/len(of)))
		}
	}
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseEngineSpec)
		want   string
	}{
		"nothing": {func(*dbv1.DatabaseEngineSpec) {}, ""},
		"a lock in a ConfigMap that the members do not have": {
			func(s *dbv1.DatabaseEngineSpec) {
				s.State = &dbv1.EngineState{ConfigMaps: []string{"config"}, Lock: &dbv1.EngineLock{ConfigMap: "leader"}, Configuration: &dbv1.EngineStateEntry{ConfigMap: "config"}}
			},
			`spec.state.lock.configMap is "leader", which is not in spec.state.configMaps`,
		},
		"two parameters of one variable": {
			func(s *dbv1.DatabaseEngineSpec) {
				s.Parameters = append(s.Parameters, dbv1.EngineParameter{Name: "CACHE"})
			},
			`spec.parameters has "cache" and "CACHE", which map to the same environment variable DBC_PARAM_CACHE`,
		},
		"a pattern that is none": {
			func(s *dbv1.DatabaseEngineSpec) { s.Parameters[0].Pattern = "(?=a)" },
			"spec.parameters[cache].pattern is not a valid regular expression (error parsing regexp: invalid or unsupported Perl syntax: `(?=`)",
		},
		"a key that no Secret can have": {
			func(s *dbv1.DatabaseEngineSpec) {
				s.SecretKeys = []dbv1.EngineSecretKey{{Name: "password"}, {Name: "..data"}}
			},
			`spec.secretKeys has "..data", which is not a valid key of a Secret: it must not start with '..'`,
		},
		"a key with a dot":                 {func(s *dbv1.DatabaseEngineSpec) { s.SecretKeys = []dbv1.EngineSecretKey{{Name: ".pgpass"}} }, ""},
		"scripts of the largest size":      {scripts(maxScripts-len(dbv1.AnnotationScripts+"backup"), "x"), ""},
		"scripts above the largest size":   {scripts(maxScripts, "ä"), "spec.scripts has 258084 bytes, names included, but a pod can have only 258048 bytes as annotations"},
		"data where the scripts are":       {at("/dbc/scripts"), `spec.container.dataPath is "/dbc/scripts", but /dbc is reserved for the operator's scripts and Secrets`},
		"data around the scripts":          {at("/data/./../dbc"), `spec.container.dataPath is "/data/./../dbc", but /dbc is reserved for the operator's scripts and Secrets`},
		"data beside the operator's place": {at("/dbcluster"), ""},
		"members that look ready as long as they run": {
			func(s *dbv1.DatabaseEngineSpec) { s.Topology, s.Container.ReadinessProbe = dbv1.TopologyConsensus, nil },
			"spec.container.readinessProbe is missing, but with topology Consensus a member that no longer responds must not be ready",
		},
		"no script of the command": {
			func(s *dbv1.DatabaseEngineSpec) {
				s.Container.Command, s.Scripts = []string{"sh", "/dbc/scripts/run"}, nil
				s.Actions = dbv1.EngineActions{}
			},
			`spec.container.command[1] is "/dbc/scripts/run", but spec.scripts has no "run"; it has none`,
		},
		"no script of a probe": {
			func(s *dbv1.DatabaseEngineSpec) { s.Container.LivenessProbe = probe("/dbc/scripts/alive") },
			`spec.container.livenessProbe.exec.command[0] is "/dbc/scripts/alive", but spec.scripts has no "alive"; it has backup`,
		},
		"no script of two actions": {
			func(s *dbv1.DatabaseEngineSpec) { s.Actions.Probe, s.Actions.Restore = aScript("ask"), aScript("back") },
			`spec.actions.probe.command[0] is "/dbc/scripts/ask", but spec.scripts has no "ask"; it has backup; ` +
				`spec.actions.restore.command[0] is "/dbc/scripts/back", but spec.scripts has no "back"; it has backup`,
		},
		"a text of a shell, which may be anything": {args("/dbc/scripts/backup | gzip", "x /dbc/scripts/y", "/dbc/scripts/"), ""},
		"a parameter that there is not": {
			args("--cache=$(DBC_PARAM_CACHE)$(DBC_PARAM_CASH)"),
			"spec.container.args[0] refers to $(DBC_PARAM_CASH), but spec.parameters does not define that variable; it defines DBC_PARAM_CACHE, DBC_PARAM_SYNC",
		},
		"a parameter that is none":  {args("$$(DBC_PARAM_CASH)", "$DBC_PARAM_CASH", "$(DBC_PORT)", "$(CASH)"), ""},
		"one behind an escaped one": {args("$$$(DBC_PARAM_CASH)"), "spec.container.args[0] refers to $(DBC_PARAM_CASH), but spec.parameters does not define that variable; it defines DBC_PARAM_CACHE, DBC_PARAM_SYNC"},
		"a parameter that there is not, in a variable": {
			func(s *dbv1.DatabaseEngineSpec) {
				s.Container.Env[0].Value = "$(DBC_PARAM_X)"
				s.Parameters = nil
				s.Container.Args = nil
			},
			"spec.container.env[HOME] refers to $(DBC_PARAM_X), but spec.parameters does not define that variable; it defines none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			declared := ledger()
			c.change(&declared.Spec)
			hasFlaw(t, declared, c.want)
		})
	}
}

func TestAFlawOfAnActionIsReportedToClustersThatNeedIt(t *testing.T) {
	declared := ledger()
	declared.Spec.Actions.Restore = aScript("back")
	for action, reported := range map[string]bool{ActionProbe: false, ActionBackup: false, ActionRestore: true} {
		if got := Declared(declared, action); (got != "") != reported {
			t.Errorf("%s: %q", action, got)
		}
	}
	if got := Declared(declared); got != "" {
		t.Errorf("a cluster that needs no action has the flaws %q", got)
	}
}
