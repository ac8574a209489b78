/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// dialects are the dialects that an interpreter may support. An image's sh can be any of them, so a script is wrong
// only if no dialect accepts it.
var dialects = map[string][]syntax.LangVariant{
	"sh":   {syntax.LangPOSIX, syntax.LangBash, syntax.LangMirBSDKorn},
	"ash":  {syntax.LangPOSIX, syntax.LangBash},
	"dash": {syntax.LangPOSIX},
	"bash": {syntax.LangBash},
	"ksh":  {syntax.LangMirBSDKorn, syntax.LangBash},
	"mksh": {syntax.LangMirBSDKorn},
}

// maxBrackets bounds the memory of the parser, which needs up to 4 KiB for each open bracket. No handwritten script
// has so many. The operator does not parse such a script.
const maxBrackets = 8192

// directive declares the shell of a script that has no interpreter line.
var directive = regexp.MustCompile(`(?m)^# shellcheck (?:.* )?shell=([a-z]+)`)

// dialectsOf returns the dialects of all shell scripts. A script is a shell script by its first line, by a
// directive, because a command passes it to a shell, or because a shell script sources it.
func dialectsOf(scripts map[string]dbv1.EngineScript, calls []shellCall) map[string][]syntax.LangVariant {
	given := map[string]string{}
	for _, call := range calls {
		if at := script.FindStringSubmatch(call.text); at != nil && !call.inline {
			given[at[1]] = call.shell
		}
	}
	all := map[string][]syntax.LangVariant{}
	var left []string
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		if shell := dialects[cmp.Or(shellOf(string(scripts[name])), given[name])]; shell != nil {
			all[name], left = shell, append(left, name)
		}
	}
	for ; len(left) > 0; left = left[1:] {
		for _, sourced := range sourcedBy(string(scripts[left[0]]), all[left[0]]) {
			if text := scripts[sourced]; text != "" && all[sourced] == nil && !strings.HasPrefix(string(text), "#!") {
				all[sourced], left = all[left[0]], append(left, sourced)
			}
		}
	}
	return all
}

// shellCall is the script that a command passes to a shell: its path or, inline, its text.
type shellCall struct {
	part
	shell  string
	inline bool
}

// shellCalls are those of all commands, such as [sh, /dbc/scripts/backup] and [bash, -o, pipefail, -c, …].
func shellCalls(spec dbv1.DatabaseEngineSpec) (all []shellCall) {
	words := shellWords{over: true}
	for _, p := range parts(spec) {
		if p.program {
			words = shellWords{}
		}
		if words.read(p) {
			all = append(all, words.call)
		}
	}
	return all
}

// shellWords is the state of reading the words of a command.
type shellWords struct {
	call shellCall
	// option is true if the next word is the value of -o.
	option bool
	// over is true if the remaining words do not matter.
	over bool
}

// read reads one more word, and reports whether it is the script that the command passes to a shell.
func (w *shellWords) read(p part) bool {
	switch name := path.Base(p.text); {
	case w.over:
	case strings.HasPrefix(p.field, "spec.container.env["): // not part of the command
		w.over = true
	case w.option:
		w.option = false
	case strings.HasPrefix(p.text, "-"):
		short := w.call.shell != "" && !strings.HasPrefix(p.text, "--")
		w.call.inline = w.call.inline || short && strings.Contains(p.text, "c")
		w.option = short && strings.HasSuffix(p.text, "o")
	case w.call.shell != "":
		w.call.part, w.over = p, true
		return true
	case !slices.Contains(launchers, name):
		w.call.shell, w.over = name, dialects[name] == nil
	}
	return false
}

// launchers run the program that their arguments name.
var launchers = []string{"env", "busybox"}

// shellOf is the interpreter that a script names; "" if it names none.
func shellOf(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	line, found := strings.CutPrefix(first, "#!")
	if !found {
		if at := directive.FindStringSubmatch(text); at != nil {
			return at[1]
		}
		return ""
	}
	words := strings.Fields(line)
	for len(words) > 0 && (slices.Contains(launchers, path.Base(words[0])) || strings.HasPrefix(words[0], "-")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return ""
	}
	return path.Base(words[0])
}

// sourcedBy are the scripts that a shell script sources.
func sourcedBy(text string, variants []syntax.LangVariant) []string {
	file, err := parse(text, variants)
	if file == nil || err != nil {
		return nil
	}
	var all []string
	syntax.Walk(file, func(node syntax.Node) bool {
		call, is := node.(*syntax.CallExpr)
		if !is || len(call.Args) < 2 || !slices.Contains([]string{".", "source"}, call.Args[0].Lit()) {
			return true
		}
		if name, ours := strings.CutPrefix(call.Args[1].Lit(), naming.ScriptsPath+"/"); ours {
			all = append(all, name)
		}
		return true
	})
	return all
}

// syntaxProblem reports where a shell would stop reading a script; "" if there is no error, or the script is not a
// shell script.
func syntaxProblem(text string, variants []syntax.LangVariant) string {
	_, err := parse(text, variants)
	wrong, unknown := syntax.ParseError{}, syntax.LangError{}
	switch {
	case err == nil:
		return ""
	case errors.As(err, &wrong):
		return fmt.Sprintf(" line %d, column %d: %s", wrong.Pos.Line(), wrong.Pos.Col(), wrong.Text)
	case errors.As(err, &unknown):
		return fmt.Sprintf(" line %d, column %d: its shell does not support %s", unknown.Pos.Line(), unknown.Pos.Col(), unknown.Feature)
	default:
		return ": " + err.Error()
	}
}

func brackets(text string) int {
	count := 0
	for _, bracket := range []string{"(", "[", "{", "`"} {
		count += strings.Count(text, bracket)
	}
	return count
}

// parse parses a script in the first dialect that accepts it. The error is that of the last dialect, which knows
// the most. It does not read a script of another language, or with too many brackets.
func parse(text string, variants []syntax.LangVariant) (file *syntax.File, err error) {
	if brackets(text) > maxBrackets {
		return nil, nil
	}
	for _, variant := range variants {
		if file, err = syntax.NewParser(syntax.Variant(variant)).Parse(strings.NewReader(text), ""); err == nil {
			return file, nil
		}
	}
	return nil, err
}
