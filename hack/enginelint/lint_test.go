/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func rules(t *testing.T) *schema {
	t.Helper()
	s, err := newSchema("../../" + crd)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// all returns the findings of a text, one in each line.
func all(t *testing.T, s *schema, text string) string {
	t.Helper()
	var out bytes.Buffer
	report(&out, "FILE", lint(t.Context(), s, []byte(text)))
	return out.String()
}

func TestEachEngineOfTheRepositoryIsAcceptedWithTheseWarnings(t *testing.T) {
	if _, err := exec.LookPath("shellcheck"); err != nil {
		t.Skip("shellcheck is not installed: apt-get install shellcheck")
	}
	files, err := filepath.Glob("../../config/engines/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	s := rules(t)
	warnings := map[string][]string{
		"memcached-v1.yaml":                     {"actions.backup"},
		"redis-single-v1.yaml":                  {"actions.protect"},
		"mydb-v1.yaml":                          {"actions.credentials", "actions.protect", "spec.tls"},
		"mydb-replicas-v1.yaml":                 {"actions.credentials", "actions.protect", "spec.tls", "actions.configure"},
		"own-engine.yaml":                       {"actions.credentials", "actions.protect", "spec.tls"},
		"database_v1alpha1_databaseengine.yaml": {"actions.check", "actions.protect", "spec.tls", "spec.connection"},
	}
	for _, file := range append(files, "../../config/engines/skeleton/mydb-v1.yaml", "../../config/engines/skeleton/mydb-replicas-v1.yaml",
		"../../config/samples/gallery/own-engine.yaml", "../../config/samples/database_v1alpha1_databaseengine.yaml") {
		got := strings.Split(strings.TrimSpace(all(t, s, read(t, file))), "\n")
		want := warnings[filepath.Base(file)]
		if len(got) != len(want)+1 {
			t.Errorf("%s: %s", file, strings.Join(got, "\n"))
			continue
		}
		for i, field := range want {
			if !strings.HasPrefix(got[i], "FILE: warning: ") || !strings.Contains(got[i], field+" is not set") {
				t.Errorf("%s: %s, want a warning about %s", file, got[i], field)
			}
		}
	}
}

// replicated adds a primary to the skeleton.
const replicated = `topology: PrimaryReplica
  roles: {label: example.org/role, primary: primary, replica: replica, lockSeconds: 30}`

func TestEachMistakeHasAFindingThatNamesTheField(t *testing.T) {
	s, skeleton := rules(t), read(t, "../../config/engines/skeleton/mydb-v1.yaml")
	primary := strings.NewReplacer("topology: Independent", replicated,
		"    probe: {command", "    initialize: {command: [/dbc/scripts/start]}\n    handOver: {command: [/dbc/scripts/start]}\n    probe: {command").Replace(skeleton)
	liveness := func(probe string) string {
		return strings.Replace(primary, "    # There is no livenessProbe", "    livenessProbe: {exec: {command: [/dbc/scripts/ready]}, "+probe+"}\n    # There is no livenessProbe", 1)
	}
	for _, c := range []struct{ name, text, old, new, want string }{
		{"another kind", "kind: Secret\n", "", "", "error: the file has no object of kind DatabaseEngine"},
		{"no YAML", skeleton, "spec:", "spec: [", "correct the YAML"},
		{"a key twice", skeleton, "topology: Independent", "topology: Independent\n  topology: Independent", `key "topology" already set`},
		{"another version", skeleton, "io/v1alpha1", "io/v2", "error: apiVersion is database.dbcluster.io/v2"},
		{"an unknown field", skeleton, "periodSeconds: 5", "periodSecond: 5", "error: spec.container.readinessProbe.periodSecond is not a field"},
		{"a wrong type", skeleton, "port: 7000", "port: seven", "error: spec.container.port: Invalid value"},
		{"a rule of the CRD", skeleton, "topology: Independent", "topology: Consensus", "error: spec: Invalid value: spec.actions.initialize is required"},
		{"a flaw that the operator reports", skeleton, "[/dbc/scripts/backup]", "[/dbc/scripts/bakup]", `error: spec.actions.backup.command[0] is "/dbc/scripts/bakup", but spec.scripts has no`},
		{"line ends of Windows", skeleton, "    start: |\n", "    spare: \"#!/bin/sh\\r\\nmydb-ping\\r\\n\"\n    start: |\n", "error: spec.scripts[spare] has CR LF"},
		{"a syntax error", skeleton, "echo '{\"role\":\"primary\"}'", "if true", "error: spec.scripts[probe] line"},
		{"no interpreter", skeleton, "backup: |\n      #!/bin/sh\n", "backup: |\n", "does not start with #!"},
		{"a name", skeleton, "name: mydb-v1", "name: MyDB", "error: metadata.name is \"MyDB\""},
		{"a name without a version", skeleton, "name: mydb-v1", "name: mydb", "warning: metadata.name is \"mydb\", without a version"},
		{"several words in one", skeleton, "[/dbc/scripts/ready]", "[mydb-ping --quick]", "error: spec.container.readinessProbe.exec.command[0] is \"mydb-ping --quick\", one word with spaces"},
		{"a relative path", skeleton, "[/dbc/scripts/ready]", "[bin/ping]", "error: spec.container.readinessProbe.exec.command[0] is \"bin/ping\", a relative path"},
		{"another folder for the scripts", skeleton, "[/dbc/scripts/ready]", "[/dbc/script/ready]", `"/dbc/script/ready", but the scripts are in /dbc/scripts/: use /dbc/scripts/ready`},
		{"a variable of no parameter", skeleton, "$DBC_PARAM_CACHE", "$DBC_PARAM_CASH", "warning: spec.scripts[start] uses DBC_PARAM_CASH, but spec.parameters does not define"},
		{"no possible number of members", skeleton, "replicas: {max: 1}", "replicas: {min: 2, max: 2, odd: true}", "error: spec.replicas allows only 2 members"},
		{"a script without its path", skeleton, "[/dbc/scripts/ready]", "[ready]", "use /dbc/scripts/ready"},
		{"a script that names another one", skeleton, "ask mydb-ping --timeout=4 > /dev/null", "/dbc/scripts/asks > /dev/null", "error: spec.scripts[ready] names /dbc/scripts/asks"},
		{"a script of members that they do not have", skeleton, "    port: 7000", "    scripts: [start, ready]\n    port: 7000", "warning: spec.scripts[start] names common, but spec.container.scripts does not list it"},
		{"a command of members that they do not have", skeleton, "    port: 7000", "    scripts: [start, common]\n    port: 7000",
			"error: spec.container.readinessProbe.exec.command[0] is \"/dbc/scripts/ready\", but spec.container.scripts does not list \"ready\""},
		{"a script of members that does not exist", skeleton, "    port: 7000", "    scripts: [begin]\n    port: 7000", "error: spec: Invalid value: spec.container.scripts has a name that is not in spec.scripts"},
		{"a script that nothing names", skeleton, "  scripts:\n", "  scripts:\n    spare: |\n      #!/bin/sh\n      true\n", "warning: spec.scripts[spare] is used by no command"},
		{"no probe of readiness", skeleton, "    readinessProbe:\n      exec: {command: [/dbc/scripts/ready]}\n      periodSeconds: 5\n      timeoutSeconds: 5\n", "",
			"warning: spec.container.readinessProbe is not set"},
		{"an impatient probe", skeleton, "    # There is no livenessProbe", "    livenessProbe: {exec: {command: [/dbc/scripts/ready]}, failureThreshold: 2}\n    # There is no",
			"warning: spec.container.livenessProbe ends a member that recovers for longer than 20 s"},
		{"a primary that never ends", primary, "", "", "error: spec.container.livenessProbe is not set, so a primary that hangs never ends"},
		{"a primary that ends too late", liveness("periodSeconds: 5, failureThreshold: 3, timeoutSeconds: 3, terminationGracePeriodSeconds: 12"), "", "",
			"error: spec.container.livenessProbe ends a primary that hangs after up to 30 s"},
		{"a primary that has the grace period of the pod", liveness("periodSeconds: 5, failureThreshold: 3"), "", "", "after up to 136 s"},
		{"a lock whose parameter has a short default", strings.NewReplacer("lockSeconds: 30", "lockParameter: ttl", "  parameters:\n",
			"  parameters:\n    - {name: ttl, description: The lifetime of the lock., default: \"20\"}\n").Replace(liveness("periodSeconds: 5, failureThreshold: 3, timeoutSeconds: 3, terminationGracePeriodSeconds: 2")),
			"", "", "but another member becomes the primary after the default of spec.parameters[ttl] (20)"},
		{"a lock without its parameter", primary, "lockSeconds: 30", "lockParameter: ttl", `error: spec.roles.lockParameter is "ttl", but spec.parameters does not define that parameter`},
		{"a primary without positions", primary, "", "", "warning: spec.roles.positionField is not set: clusters have no metric of the lag"},
		{"a timeline without positions", primary, "lockSeconds: 30", "lockSeconds: 30, timelineField: timeline", "warning: spec.roles.positionField is not set"},
		{"a program that shellcheck refuses", skeleton, "exec mydb-dump --data=\"$data\"", "exec mydb-dump --data=$data", "/dbc/scripts/backup:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "/dbc/scripts/backup:" {
				if _, err := exec.LookPath("shellcheck"); err != nil {
					t.Skip("shellcheck is not installed: apt-get install shellcheck")
				}
			}
			text := strings.Replace(c.text, c.old, c.new, 1)
			if got := all(t, s, text); !strings.Contains(got, c.want) || c.old != "" && text == c.text {
				t.Errorf("%s\nlacks %s", got, c.want)
			}
		})
	}
	if got := all(t, s, liveness("periodSeconds: 4, failureThreshold: 3, timeoutSeconds: 3, terminationGracePeriodSeconds: 14")); strings.Contains(got, "error:") {
		t.Errorf("a primary that ends in 29 s: %s", got)
	}
}

func TestEachActionThatIsMissingHasAWarningWithItsConsequence(t *testing.T) {
	s, skeleton := rules(t), read(t, "../../config/engines/skeleton/mydb-v1.yaml")
	for _, c := range []struct{ old, new, want string }{
		{"probe: {command: [/dbc/scripts/probe]}", "", "spec.actions.probe is not set: a verification of a backup needs"},
		{", generate: {length: 32}", "", "each cluster needs a Secret of its user"},
		{"    runAsUser: 1000", "", "spec.container.runAsUser is not set"},
		{"    versionCommand:", "    # versionCommand:", "spec.container.versionCommand is not set"},
		{"  secretKeys:", "  tls: {modes: [Require]}\n  secretKeys:", "spec.actions.reload is not set"},
	} {
		text := strings.Replace(skeleton, c.old, c.new, 1)
		if got := all(t, s, text); !strings.Contains(got, "warning: ") || !strings.Contains(got, c.want) || text == skeleton {
			t.Errorf("%s\nlacks %s", got, c.want)
		}
	}
}

func TestTheSkeletonGetsAName(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "../../hack/engine", "new", "other-v2").Output()
	if err != nil || !strings.Contains(string(output), "\n  name: other-v2 # ") {
		t.Fatalf("%v: %s", err, output)
	}
	if got := all(t, rules(t), string(output)); strings.Contains(got, "error:") {
		t.Error(got)
	}
	if output, err := exec.CommandContext(t.Context(), "../../hack/engine", "new", "Other/v2").CombinedOutput(); err == nil {
		t.Errorf("it accepts a name that no object can have: %s", output)
	}
}
