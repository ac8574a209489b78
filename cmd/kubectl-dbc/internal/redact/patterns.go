/*
SPDX-License-Identifier: Apache-2.0
*/

package redact

import (
	"regexp"
	"slices"
	"strings"
)

// removed replaces a secret value.
const removed = "REDACTED"

const (
	// names are the names of settings with a secret value.
	names = `(?:password|passwd|passphrase|pwd|secret[_-]?(?:access[_-]?)?key|client[_-]?secret|private[_-]?key|token|requirepass|` +
		`masterauth|api[_-]?key)`
	// quoted is a text in quotes: in JSON that stands in JSON, in JSON, in SQL, or without an end.
	quoted = `(?:\\"(?:\\\\\\"|[^"\n])*?\\"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|''|\\.)*'|\\?["'][^\n]*)`
	// value is that, or a text until a space.
	value = `(?:` + quoted + `|[^\s"']\S*)`
)

// block is a private key, which has several lines.
var block = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)

// pattern matches secrets in a line by their form. The texts of the groups stay. Each text that it matches has one of the hints, in
// lowercase: most lines of a log have none, and the search by a regular expression is slow.
type pattern struct {
	hints []string
	form  *regexp.Regexp
}

func like(form string, hints ...string) pattern { return pattern{hints, regexp.MustCompile(form)} }

var patterns = []pattern{
	like(`()AGE-SECRET-KEY-1[A-Za-z0-9]+`, "age-secret"),
	like(`()\beyJ[\w-]+\.[\w-]+\.[\w-]*`, "eyj"),
	like(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, "akia", "asia"),
	like(`()SCRAM-SHA-[0-9]+\$[^\s"']+`, "scram-sha"),
	like(`()\bmd5[0-9a-f]{32}\b`, "md5"),
	like(`(://[^:/@\s]*:)\S+(@)`, "://"),
	like(`(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}`, "bearer", "basic"),
	// NAME=VALUE, NAME: VALUE and their forms in JSON
	like(`(?i)(`+names+`\\*["']?[ \t]*(?::=|=>|[:=])[ \t]*)`+value, ofNames...),
	// SQL and messages: PASSWORD 'VALUE'
	like(`(?i)(`+names+`["']?[ \t]+)(?:e?`+quoted+`|\$\w*\$\S*)`, ofNames...),
	like(`(?i)(\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?)`+value, "identified"),
	// directives and commands of servers
	like(`(?i)(\b(?:requirepass|masterauth|auth-pass[ \t]+\S+)["']?[ \t]+)`+value, "requirepass", "masterauth", "auth-pass"),
	like(`(\bAUTH["']?[ \t]+)`+value+`(?:[ \t]+`+value+`)?`, "auth ", "auth\t", "auth\"", "auth'"),
	// arguments of programs: --password VALUE, but not the name of a key, such as owner-password
	like(`(?i)((?:^|[^\w-])--?[\w-]*(?:`+names+`|secret|[_-]key|[_-]pass)[ \t]+)`+value, ofNames...),
}

// ofNames are the hints of names, and of arguments.
var ofNames = []string{"pass", "pwd", "secret", "key", "token", "masterauth"}

// accounts are lines about a user in a list of access rules, and rules are its passwords there: >VALUE adds one, <VALUE removes one, and #
// and ! have a hash.
var (
	accounts = regexp.MustCompile(`(?im)\b(?:setuser|user)\b[ \t"'].*$`)
	rules    = regexp.MustCompile(`([\s"'])[><#!]\S+`)
)

// byForm removes secrets that can be recognized by their form.
func byForm(text string) string {
	var all strings.Builder
	for line := range strings.Lines(block.ReplaceAllString(text, removed)) {
		all.WriteString(inLine(line))
	}
	return all.String()
}

func inLine(line string) string {
	lower := strings.ToLower(line)
	for _, p := range patterns {
		if slices.ContainsFunc(p.hints, func(hint string) bool { return strings.Contains(lower, hint) }) {
			line = p.form.ReplaceAllString(line, "${1}"+removed+"${2}")
		}
	}
	if !strings.Contains(lower, "user") || !strings.ContainsAny(line, "><#!") {
		return line
	}
	return accounts.ReplaceAllStringFunc(line, func(rest string) string { return rules.ReplaceAllString(rest, "${1}"+removed) })
}
