/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// badScripts are scripts that cannot run as they are. Each affects the clusters that run it.
func badScripts(spec dbv1.DatabaseEngineSpec) []flaw {
	var all []flaw
	calls := shellCalls(spec)
	shells := dialectsOf(spec.Scripts, calls)
	for _, name := range slices.Sorted(maps.Keys(spec.Scripts)) {
		text := string(spec.Scripts[name])
		problem := lineEnds(text)
		if problem == "" {
			problem = syntaxProblem(text, shells[name])
		}
		if problem != "" {
			all = append(all, flaw{usersOf(spec, name), fmt.Sprintf("spec.scripts[%s]%s", name, problem)})
		}
	}
	for _, call := range calls {
		text := strings.ReplaceAll(call.text, "$$", "$") // as Kubernetes does
		if problem := syntaxProblem(text, dialects[call.shell]); call.inline && problem != "" {
			all = append(all, flaw{only(call.action), call.field + problem})
		}
	}
	return append(all, unstartable(spec)...)
}

// lineEnds reports Windows line ends: a shell takes the CR for a part of the command.
func lineEnds(text string) string {
	before, _, found := strings.Cut(text, "\r\n")
	if !found {
		return ""
	}
	return fmt.Sprintf(" has CR LF at the end of line %d: save it with LF line endings", 1+strings.Count(before, "\n"))
}

// unstartable are commands that run a script without a first line with its interpreter. Kubernetes runs no shell.
func unstartable(spec dbv1.DatabaseEngineSpec) []flaw {
	var all []flaw
	for _, p := range parts(spec) {
		at := script.FindStringSubmatch(p.text)
		if !p.program || at == nil || spec.Scripts[at[1]] == "" || strings.HasPrefix(string(spec.Scripts[at[1]]), "#!") {
			continue
		}
		all = append(all,
			flaw{only(p.action), fmt.Sprintf("%s runs spec.scripts[%s], which does not start with #!: add a first line such as #!/bin/sh",
				p.field, at[1])})
	}
	return all
}

// unrestorable reports an action backup without an action restore.
func unrestorable(actions dbv1.EngineActions) []flaw {
	if actions.Backup == nil || actions.Restore != nil {
		return nil
	}
	return []flaw{{only(ActionBackup), "spec.actions has backup but no restore, so its backups cannot be restored: add the action restore"}}
}

// mention matches a script's path anywhere in a text.
var mention = regexp.MustCompile(regexp.QuoteMeta(naming.ScriptsPath) + "/([-A-Za-z0-9_.]*[A-Za-z0-9])")

// usersOf are the actions that run a script, directly or through other scripts; nil if members run it. A script
// without a known reference may be found in another way, so all actions count as its users.
func usersOf(spec dbv1.DatabaseEngineSpec, name string) []string {
	var users []string
	for _, p := range parts(spec) {
		if !slices.Contains(reached(spec.Scripts, p.text), name) {
			continue
		}
		if p.action == "" {
			return nil
		}
		users = append(users, p.action)
	}
	if len(users) == 0 {
		return Actions
	}
	return users
}

// reached are the scripts that a text names, and the scripts that those name.
func reached(scripts map[string]dbv1.EngineScript, text string) []string {
	var all []string
	for texts := []string{text}; len(texts) > 0; texts = texts[1:] {
		for _, at := range mention.FindAllStringSubmatch(texts[0], -1) {
			if name := at[1]; scripts[name] != "" && !slices.Contains(all, name) {
				all, texts = append(all, name), append(texts, string(scripts[name]))
			}
		}
	}
	return all
}
