/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestABrokenScriptIsReportedWithNameLineAndRemedy(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"a good one": {"#!/bin/sh\nset -eu\n. /dbc/scripts/common\nif true; then echo x; fi\n", ""},
		"no first line": {
			"set -eu\necho x\n",
			"spec.actions.backup.command[0] runs spec.scripts[backup], which does not start with #!: add a first line such as #!/bin/sh",
		},
		"a first line that comes late": {
			"\n#!/bin/sh\n",
			"spec.actions.backup.command[0] runs spec.scripts[backup], which does not start with #!: add a first line such as #!/bin/sh",
		},
		"line ends of Windows":               {"#!/bin/sh\nset -eu\r\nif x\r\n", "spec.scripts[backup] has CR LF at the end of line 2: save it with LF line endings"},
		"an if without an end":               {"#!/bin/sh\nif true; then\n  echo x\n", "spec.scripts[backup] line 2, column 1: `if` statement must end with `fi`"},
		"a quote without an end":             {"#!/bin/bash\necho 'x\n", "spec.scripts[backup] line 2, column 6: reached EOF without closing quote `'`"},
		"by env":                             {"#!/usr/bin/env -S bash -e\necho )\n", "spec.scripts[backup] line 2, column 6: a command can only contain words and redirects; encountered `)`"},
		"of busybox":                         {"#!/bin/busybox sh\necho )\n", "spec.scripts[backup] line 2, column 6: a command can only contain words and redirects; encountered `)`"},
		"an array, which some sh know":       {"#!/bin/sh\na=(1 2)\n", ""},
		"an array, which dash does not know": {"#!/bin/dash\na=(1 2)\n", "spec.scripts[backup] line 2, column 3: its shell does not support arrays"},
		"a process substitution of bash":     {"#!/usr/bin/bash\ndiff <(a) <(b)\n", ""},
		"no shell":                           {"#!/usr/bin/python3\nif x:\n  print('(')\n", ""},
		"an unknown interpreter":             {"#!\nif x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			declared := ledger()
			declared.Spec.Scripts["backup"] = dbv1.EngineScript(c.script)
			hasFlaw(t, declared, c.want)
		})
	}
}

func TestASourcedScriptHasTheDialectOfItsCaller(t *testing.T) {
	const broken = "f() {\necho x\n"
	const found = "spec.scripts[common] line 1, column 5: reached EOF without matching `{` with `}`"
	for name, c := range map[string]struct{ backup, common, want string }{
		"by a dot":          {"#!/bin/sh\n. /dbc/scripts/common\n", broken, found},
		"inside of another": {"#!/bin/bash\nif true; then source /dbc/scripts/common; fi\n", broken, found},
		"by a directive":    {"#!/bin/sh\n", "# shellcheck shell=sh\n" + broken, strings.Replace(found, "line 1", "line 2", 1)},
		"by nobody":         {"#!/bin/sh\n", broken, ""},
		"in a comment":      {"#!/bin/sh\n# . /dbc/scripts/common\n", broken, ""},
		"a dialect of bash": {"#!/bin/bash\n. /dbc/scripts/common\n", "a=(1)\n", ""},
		"one of no shell":   {"#!/bin/sh\n. /dbc/scripts/common\n", "#!/usr/bin/perl\nf() {\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			declared := ledger()
			declared.Spec.Scripts["backup"], declared.Spec.Scripts["common"] = dbv1.EngineScript(c.backup), dbv1.EngineScript(c.common)
			hasFlaw(t, declared, c.want)
		})
	}
}

func TestScriptsInShellCommandsAreParsed(t *testing.T) {
	const broken = "if true; then echo\n"
	const here = "`if` statement must end with `fi`"
	byPath := "spec.scripts[backup] line 1, column 1: " + here
	for name, c := range map[string]struct {
		command []string
		script  string
		want    string
	}{
		"a script":               {[]string{"/bin/sh", "/dbc/scripts/backup"}, broken, byPath},
		"a script after options": {[]string{"bash", "-eu", "-o", "pipefail", "/dbc/scripts/backup"}, broken, byPath},
		"a script by env":        {[]string{"/usr/bin/env", "bash", "/dbc/scripts/backup"}, broken, byPath},
		"a script of no shell":   {[]string{"python3", "/dbc/scripts/backup"}, broken, ""},
		"a good script":          {[]string{"sh", "/dbc/scripts/backup", broken}, "true\n", ""},
		"text":                   {[]string{"/bin/sh", "-ec", broken}, "#!/bin/sh\n", "spec.actions.backup.command[2] line 1, column 1: " + here},
		"text after an option":   {[]string{"bash", "-euo", "pipefail", "-c", broken}, "#!/bin/sh\n", "spec.actions.backup.command[4] line 1, column 1: " + here},
		"good text":              {[]string{"sh", "-c", "echo $$(date) $(DBC_PORT); exec \"$@\"", "sh", broken}, "#!/bin/sh\n", ""},
		"an array in text of sh": {[]string{"sh", "-c", "a=(1 2)"}, "#!/bin/sh\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			declared := ledger()
			declared.Spec.Scripts["backup"], declared.Spec.Actions.Backup.Command = dbv1.EngineScript(c.script), c.command
			hasFlaw(t, declared, c.want)
		})
	}
}

func TestABrokenScriptAffectsAllItsDirectAndIndirectUsers(t *testing.T) {
	const broken = "#!/bin/sh\nif\n"
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseEngineSpec)
		needed []string // to those who need these actions; "" for no action
	}{
		"restore alone": {func(s *dbv1.DatabaseEngineSpec) { s.Scripts["restore"] = broken }, []string{ActionRestore}},
		"by a script": {func(s *dbv1.DatabaseEngineSpec) {
			s.Scripts["backup"], s.Scripts["common"] = "#!/bin/sh\nexec /dbc/scripts/common.\n", broken
		}, []string{ActionBackup}},
		"a check": {func(s *dbv1.DatabaseEngineSpec) {
			s.Scripts["check"], s.Actions.Check = broken, &dbv1.EngineCheck{Command: []string{"/dbc/scripts/check"}}
		}, []string{ActionCheck}},
		"members, too": {func(s *dbv1.DatabaseEngineSpec) {
			s.Scripts["backup"] = broken
			s.Container.LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "/dbc/scripts/backup"}}}}
		}, append([]string{""}, Actions...)},
		"no visible user":            {func(s *dbv1.DatabaseEngineSpec) { s.Scripts["other"] = broken }, Actions},
		"a backup without a restore": {func(s *dbv1.DatabaseEngineSpec) { s.Actions.Restore = nil }, []string{ActionBackup}},
	} {
		t.Run(name, func(t *testing.T) {
			declared := ledger()
			declared.Spec.Scripts["backup"], declared.Spec.Scripts["restore"] = "#!/bin/sh\n", "#!/bin/sh\n"
			declared.Spec.Actions = dbv1.EngineActions{Backup: aScript("backup"), Restore: aScript("restore")}
			c.change(&declared.Spec)
			for _, action := range append([]string{""}, Actions...) {
				if got := Declared(declared, action); (got != "") != slices.Contains(c.needed, action) {
					t.Errorf("users of %q have the flaws %q", action, got)
				}
			}
		})
	}
}

func TestABackupWithoutARestoreIsAFlaw(t *testing.T) {
	declared := ledger()
	declared.Spec.Scripts["backup"] = "#!/bin/sh\n"
	declared.Spec.Actions = dbv1.EngineActions{Backup: aScript("backup")}
	hasFlaw(t, declared, "spec.actions has backup but no restore, so its backups cannot be restored: add the action restore")
}

func TestAScriptWithTooManyBracketsIsNotParsed(t *testing.T) {
	declared := ledger()
	for count, read := range map[int]bool{100: true, maxBrackets: true, maxBrackets + 1: false} {
		declared.Spec.Scripts["backup"] = dbv1.EngineScript("#!/bin/bash\n" + strings.Repeat("(", count))
		if got := Declared(declared, ActionBackup); (got != "") != read {
			t.Errorf("%d: %q", count, got)
		}
	}
}
