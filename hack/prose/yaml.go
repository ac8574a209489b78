/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"path"
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

// readYAML reads comments, descriptions of engines and of their parameters, texts of alerts, and the text by which
// OLM describes the operator. OLM's descriptions of fields are generated from the types of the API.
func readYAML(file string, text []byte) (*source, error) {
	is, about, described, olm := &source{}, comments, messages, false
	switch path.Dir(file) {
	case "config/samples", "charts/databasecluster-operator":
		about = docs
	case "config/engines":
		described = crd
	case "config/manifests/bases":
		described, olm = docs, true
	}
	lines := strings.Split(string(text), "\n")
	var comment []line
	for i := 0; i < len(lines); i++ {
		if match := yamlText.FindStringSubmatch(lines[i]); match != nil && (!olm || match[1] == "  ") {
			var value []line
			value, i = yamlValue(lines, i, match)
			is.paragraphs = append(is.paragraphs, commentParagraphs(described, value)...)
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

// yamlValue reads the value of a key that is text, and returns its last line.
func yamlValue(lines []string, at int, match []string) ([]line, int) {
	if !yamlBlock.MatchString(match[2]) {
		return []line{{strings.Trim(match[2], `"'`), at + 1}}, at
	}
	var value []line
	for at+1 < len(lines) {
		text := strings.TrimLeft(lines[at+1], " ")
		if text != "" && len(lines[at+1])-len(text) <= len(match[1]) {
			break
		}
		at++
		value = append(value, line{" " + text, at + 1}) // an item of a list stands further right than its key
	}
	return value, at
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
