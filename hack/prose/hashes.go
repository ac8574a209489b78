/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"regexp"
	"strings"
)

var (
	makeHelp = regexp.MustCompile(`^[$(){}\w/.-]+:.*?## (.*)$`)
	// yamlValue is a value, or an item of a list, that is commented out. After "Note: " comes prose.
	yamlValue = regexp.MustCompile(`^(?:- )?(?:[a-z"'./][\w./"'-]*:(?: (?:\S+|"[^"]*"|'[^']*'|\[.*\]|\{.*\}))?|- \S+)(?: #.*)?$|^- \S+$`)
	// shellText is what a script prints.
	shellText  = regexp.MustCompile(`\b(?:fail \d+|fail|die|echo|printf) (?:"((?:\\.|[^"\\])*)"|'([^']*)')`)
	shellValue = regexp.MustCompile(`\$\([^)]*\)|\$\{[^}]*\}|\$[\w*@#?!]+`)
)

// readMakefile reads what make help prints, and comments.
func readMakefile(_ string, text []byte) (*source, error) {
	lines := strings.Split(string(text), "\n")
	is := &source{paragraphs: hashComments(comments, lines, nil)}
	for i, l := range lines {
		if match := makeHelp.FindStringSubmatch(l); match != nil {
			is.paragraphs = append(is.paragraphs, paragraph{docs, []line{{match[1], i + 1}}})
		}
	}
	return is, nil
}

// readShell reads comments and what the script prints.
func readShell(_ string, text []byte) (*source, error) {
	lines := strings.Split(string(text), "\n")
	return &source{paragraphs: append(hashComments(comments, lines, nil), shellMessages(lines)...)}, nil
}

// shellMessages reads what a script prints, with %s for its variables and commands.
func shellMessages(lines []string) []paragraph {
	var all []paragraph
	for i, l := range lines {
		for _, match := range shellText.FindAllStringSubmatch(l, -1) {
			text := shellValue.ReplaceAllString(match[1]+match[2], "%s")
			all = append(all, messageOf(text, []line{{text, i + 1}})...)
		}
	}
	return all
}

// hashComments reads the comments that begin with "#": a comment beside code is a paragraph.
func hashComments(c category, lines []string, skip func(int) bool) []paragraph {
	var all []paragraph
	var current []line
	end := func() {
		all = append(all, commentParagraphs(c, current)...)
		current = nil
	}
	for i, l := range lines {
		comment, beside, found := hashComment(l)
		if !found || skip != nil && skip(i) || yamlValue.MatchString(strings.TrimSpace(comment)) {
			end()
			continue
		}
		if strings.HasPrefix(strings.TrimSpace(comment), "prose:allow ") {
			comment = ""
		}
		if beside {
			end()
		}
		current = append(current, line{comment, i + 1})
		if beside {
			end()
		}
	}
	end()
	return all
}

// hashComment returns the comment of a line, and whether it stands beside code. "#" in quotes or in a word begins none.
func hashComment(text string) (comment string, beside, found bool) {
	for i, r := range text {
		if r != '#' {
			continue
		}
		before, after := text[:i], text[i+1:]
		quoted := strings.Count(before, `"`)%2 == 1 || strings.Count(before, "'")%2 == 1
		inWord := before != "" && !strings.HasSuffix(before, " ") && !strings.HasSuffix(before, "\t")
		if quoted || inWord || strings.HasPrefix(after, "!") || strings.HasPrefix(after, "#") {
			continue
		}
		return strings.TrimPrefix(after, " "), strings.TrimSpace(before) != "", true
	}
	return "", false, false
}
