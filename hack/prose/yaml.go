/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"regexp"
	"strings"
)

var (
	yamlComment = regexp.MustCompile(`(?:^|\s)#\s(.*)$`)
	yamlText    = regexp.MustCompile(`^(\s*(?:- )?)(?:description|summary):\s*(.*)$`)
	yamlBlock   = regexp.MustCompile(`^[>|][-+]?$`)
	makeHelp    = regexp.MustCompile(`^[$(){}\w/.-]+:.*?## (.*)$`)
	hashComment = regexp.MustCompile(`^\s*#(?: (.*))?$`)
	yamlKey     = regexp.MustCompile(`^(- )?["\w./-]+:( |$)|^- \S+$`)
)

// readYAML reads comments, descriptions of engines and of their parameters, and texts of alerts.
func readYAML(file string, text []byte) (*source, error) {
	is, about := &source{}, comments
	if strings.HasPrefix(file, "config/samples/") {
		about = docs
	}
	described := messages
	if strings.HasPrefix(file, "config/engines/") {
		described = crd
	}
	lines := strings.Split(string(text), "\n")
	var comment []line
	for i := 0; i < len(lines); i++ {
		if match := yamlText.FindStringSubmatch(lines[i]); match != nil {
			var p paragraph
			p, i = yamlValue(lines, i, match)
			p.category = described
			is.paragraphs = append(is.paragraphs, p)
			continue
		}
		c, rest := commentOf(lines[i])
		if rest || c == "" {
			is.paragraphs = append(is.paragraphs, commentParagraphs(about, comment)...)
			comment = nil
		}
		if c != "" {
			comment = append(comment, line{c, i + 1})
		}
	}
	is.paragraphs = append(is.paragraphs, commentParagraphs(about, comment)...)
	return is, nil
}

// commentOf returns the comment of a line, and whether the line has something else, too. A value that is commented out
// is no prose.
func commentOf(text string) (comment string, rest bool) {
	rest = !strings.HasPrefix(strings.TrimSpace(text), "#")
	match := yamlComment.FindStringSubmatch(text)
	if match == nil || yamlKey.MatchString(strings.TrimSpace(match[1])) {
		return "", rest
	}
	return match[1], rest
}

// yamlValue reads the value of a key that is text, and returns the last of its lines.
func yamlValue(lines []string, at int, match []string) (paragraph, int) {
	if !yamlBlock.MatchString(match[2]) {
		return paragraph{lines: []line{{strings.Trim(match[2], `"'`), at + 1}}}, at
	}
	var p paragraph
	indent := len(match[1])
	for at+1 < len(lines) {
		next := lines[at+1]
		if strings.TrimSpace(next) != "" && len(next)-len(strings.TrimLeft(next, " ")) <= indent {
			break
		}
		at++
		if strings.TrimSpace(next) != "" {
			p.lines = append(p.lines, line{strings.TrimSpace(next), at + 1})
		}
	}
	return p, at
}

// readMakefile reads what make help prints, and comments.
func readMakefile(_ string, text []byte) (*source, error) {
	is := readHashes(string(text))
	for i, l := range strings.Split(string(text), "\n") {
		if match := makeHelp.FindStringSubmatch(l); match != nil {
			is.paragraphs = append(is.paragraphs, paragraph{docs, []line{{match[1], i + 1}}})
		}
	}
	return is, nil
}

func readShell(_ string, text []byte) (*source, error) { return readHashes(string(text)), nil }

// readHashes reads lines that are comments.
func readHashes(text string) *source {
	is := &source{}
	var comment []line
	for i, l := range strings.Split(text+"\n", "\n") {
		match := hashComment.FindStringSubmatch(l)
		if match == nil {
			is.paragraphs = append(is.paragraphs, commentParagraphs(comments, comment)...)
			comment = nil
			continue
		}
		comment = append(comment, line{match[1], i + 1})
	}
	return is
}
