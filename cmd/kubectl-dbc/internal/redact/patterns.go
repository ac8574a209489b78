/*
SPDX-License-Identifier: Apache-2.0
*/

package redact

import "regexp"

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

// patterns match secrets by their form. The texts of the groups stay.
var patterns = []*regexp.Regexp{
	regexp.MustCompile(`(?s)()-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`),
	regexp.MustCompile(`()AGE-SECRET-KEY-1[A-Za-z0-9]+`),
	regexp.MustCompile(`()\beyJ[\w-]+\.[\w-]+\.[\w-]*`),
	regexp.MustCompile(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`),
	regexp.MustCompile(`()SCRAM-SHA-[0-9]+\$[^\s"']+`),
	regexp.MustCompile(`()\bmd5[0-9a-f]{32}\b`),
	regexp.MustCompile(`(://[^:/@\s]*:)\S+(@)`),
	regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}`),
	// NAME=VALUE, NAME: VALUE and their forms in JSON
	regexp.MustCompile(`(?i)(` + names + `\\*["']?[ \t]*(?::=|=>|[:=])[ \t]*)` + value),
	// SQL and messages: PASSWORD 'VALUE'
	regexp.MustCompile(`(?i)(` + names + `["']?[ \t]+)(?:e?` + quoted + `|\$\w*\$\S*)`),
	regexp.MustCompile(`(?i)(\bidentified\s+(?:with\s+\S+\s+)?(?:by|as)\s+(?:password\s+)?)` + value),
	// directives and commands of Redis
	regexp.MustCompile(`(?i)(\b(?:requirepass|masterauth|auth-pass[ \t]+\S+)["']?[ \t]+)` + value),
	regexp.MustCompile(`(\bAUTH["']?[ \t]+)` + value + `(?:[ \t]+` + value + `)?`),
	// arguments of programs: --password VALUE
	regexp.MustCompile(`(?i)(--?[\w-]*(?:` + names + `|secret|[_-]key|[_-]pass)[ \t]+)` + value),
}

// accounts are lines about a user of Redis, and rules are its passwords there: >VALUE adds one, <VALUE removes one, and # and ! have a
// hash.
var (
	accounts = regexp.MustCompile(`(?im)\b(?:setuser|user)\b[ \t"'].*$`)
	rules    = regexp.MustCompile(`([\s"'])[><#!]\S+`)
)

// byForm removes secrets that can be recognized by their form.
func byForm(text string) string {
	for _, p := range patterns {
		text = p.ReplaceAllString(text, "${1}"+removed+"${2}")
	}
	return accounts.ReplaceAllStringFunc(text, func(line string) string { return rules.ReplaceAllString(line, "${1}"+removed) })
}
