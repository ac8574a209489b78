/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"regexp"
	"strings"
)

var (
	// directive is a comment for a tool, not for a reader.
	directive = regexp.MustCompile(`^(//[a-z0-9]+:[a-z0-9]|//\s*\+|//nolint|//export |// Code generated )`)
	listItem  = regexp.MustCompile(`^\s+([-*•]|\d+[.)])\s`)
)

// commentParagraphs are the paragraphs of a Go comment: without directives, markers and blocks of code.
func commentParagraphs(c category, raw []line) []paragraph {
	var all []paragraph
	var current []line
	end := func() {
		if len(current) > 0 {
			all = append(all, paragraph{c, current})
		}
		current = nil
	}
	inList := false
	for _, l := range raw {
		switch text := l.text; {
		case strings.TrimSpace(text) == "":
			end()
			inList = false
		case listItem.MatchString(text):
			end()
			inList = true
			current = append(current, line{strings.TrimSpace(listItem.ReplaceAllString(text, "")), l.number})
		case strings.HasPrefix(text, "\t"), strings.HasPrefix(text, "   ") && !inList:
			end() // code
		default:
			current = append(current, line{strings.TrimSpace(strings.TrimPrefix(text, " # ")), l.number})
		}
	}
	end()
	return all
}

// markerMessage is the message of a rule of validation, in a marker.
var markerMessage = regexp.MustCompile("message=(\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`)")

// goCommentLines are the lines of a comment without its slashes; directives and markers count as blank, so that
// paragraphs end there.
func goCommentLines(text string, first int) []line {
	if body, is := strings.CutPrefix(text, "/*"); is {
		var lines []line
		for i, t := range strings.Split(strings.TrimSuffix(body, "*/"), "\n") {
			lines = append(lines, line{t, first + i})
		}
		return lines
	}
	if directive.MatchString(text) {
		return []line{{"", first}}
	}
	body := strings.TrimPrefix(strings.TrimPrefix(text, "//"), " ")
	if before, _, found := strings.Cut(body, " //nolint"); found {
		body = before
	}
	return []line{{body, first}}
}
