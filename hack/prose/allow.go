/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"regexp"
	"strings"
)

// allowance is an exception that stands in a source: prose:allow RULE: reason.
type allowance struct {
	rule, reason string
	// line is where it stands; it is for the lines from first to last.
	line, first, last int
	// many is true if it is for all findings there, not only for the first.
	many, used bool
}

var (
	allow         = regexp.MustCompile(`(?://|#\s)prose:allow ([A-Za-z.]+)(?:: *(.*?))?\s*$`)
	allowMarkdown = regexp.MustCompile(`^\s*<!-- prose:allow ([A-Za-z.]+)(?:: *(.*?))?\s*-->$`)
)

// allowances reads the exceptions of a file. In Markdown an exception is for the paragraph after it. Elsewhere it is for
// one finding: beside code in its line, in a comment in that comment or the line after it. gofmt moves it to the end of
// a comment, so it cannot be for the next line alone.
func allowances(text string, markdown bool) []*allowance {
	var all []*allowance
	allow := allow
	if markdown {
		allow = allowMarkdown
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		match := allow.FindStringSubmatch(l)
		if match == nil {
			continue
		}
		first, last := i, i
		switch {
		case markdown:
			last = lastWhile(lines, i, func(text string) bool { return strings.TrimSpace(text) != "" })
		case isComment(l):
			for first > 0 && isComment(lines[first-1]) {
				first--
			}
			last = lastWhile(lines, i, isComment) + 1
		}
		all = append(all, &allowance{rule: match[1], reason: match[2], line: i + 1, first: first + 1, last: last + 1, many: markdown})
	}
	return all
}

// lastWhile is the last of the lines after a line that are alike.
func lastWhile(lines []string, at int, alike func(string) bool) int {
	for at+1 < len(lines) && alike(lines[at+1]) {
		at++
	}
	return at
}

func isComment(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#")
}

// allows reports whether an exception is for a finding, and uses it.
func (s *source) allows(rule string, line int) bool {
	for _, a := range s.allowed {
		if a.rule == rule && a.first <= line && line <= a.last && (a.many || !a.used) {
			a.used = true
			return true
		}
	}
	return false
}
