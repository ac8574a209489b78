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
	used              bool
}

var allow = regexp.MustCompile(`(?://|#\s|<!--\s)prose:allow ([A-Za-z.]+)(?:: *(.*?))?\s*(?:-->)?$`)

// allowances reads the exceptions of a file. Beside code an exception is for its line. In a comment it is for that
// comment and the line after it, in Markdown for the paragraph after it.
func allowances(text string) []*allowance {
	var all []*allowance
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		match := allow.FindStringSubmatch(l)
		if match == nil {
			continue
		}
		first, last := i, i
		switch trimmed := strings.TrimSpace(l); {
		case strings.HasPrefix(trimmed, "<!--"):
			for last+1 < len(lines) && strings.TrimSpace(lines[last+1]) != "" {
				last++
			}
		case isComment(trimmed):
			for first > 0 && isComment(lines[first-1]) {
				first--
			}
			for last+1 < len(lines) && isComment(lines[last+1]) {
				last++
			}
			last++
		}
		all = append(all, &allowance{rule: match[1], reason: match[2], line: i + 1, first: first + 1, last: last + 1})
	}
	return all
}

func isComment(text string) bool {
	text = strings.TrimSpace(text)
	return strings.HasPrefix(text, "//") || strings.HasPrefix(text, "#")
}

// allows returns the exception for a finding; nil when there is none.
func (s *source) allows(rule string, line int) *allowance {
	for _, a := range s.allowed {
		if a.rule == rule && a.first <= line && line <= a.last {
			return a
		}
	}
	return nil
}
