/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Row is a row in the tables of permissions in docs/security.md.
type Row struct {
	Rights []Right
	Why    string
	// Stories are the tests in which the operator uses the permissions.
	Stories []string
}

var (
	quoted = regexp.MustCompile("`([^`]+)`")
	// heading is the start of the table of a role.
	heading = regexp.MustCompile("(?m)^\\*\\*`([-a-z]+)`\\*\\*")
)

// Documented returns the rows of all tables in a file. The name of a role precedes each table.
func Documented(path string) ([]Row, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the caller names it
	if err != nil {
		return nil, err
	}
	var all []Row
	sections := heading.Split(string(text), -1)
	for i, role := range heading.FindAllStringSubmatch(string(text), -1) {
		rows, err := table(role[1], sections[i+1])
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// table parses the first table in a text.
func table(role, text string) ([]Row, error) {
	var all []Row
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|") && len(all) > 0:
			return all, nil
		case !strings.HasPrefix(line, "| `"): // the head of the table
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 4 {
			return nil, fmt.Errorf("%s: a row has %d cells, want resource, verbs, why and shown by: %s", role, len(cells), line)
		}
		all = append(all, Row{of(role, cells[0], cells[1]), strings.TrimSpace(cells[2]), words(cells[3])})
	}
	return all, nil
}

// of returns the permissions in two cells: resources, optionally with names, and verbs.
func of(role, resources, verbs string) []Right {
	resources, only, _ := strings.Cut(resources, " only ")
	names := words(only)
	if len(names) == 0 {
		names = []string{""}
	}
	var all []Right
	for _, resource := range words(resources) {
		for verb := range strings.SplitSeq(verbs, ",") {
			for _, name := range names {
				right := Right{Role: role, Verb: strings.TrimSpace(verb), Name: name}
				right.Resource, right.Group = parse(resource)
				all = append(all, right)
			}
		}
	}
	return all
}

// parse reads resource.group/subresource.
func parse(text string) (resource, group string) {
	text, subresource, _ := strings.Cut(text, "/")
	resource, group, _ = strings.Cut(text, ".")
	if subresource != "" {
		resource += "/" + subresource
	}
	return resource, group
}

// words returns the texts between backticks.
func words(text string) []string {
	var all []string
	for _, found := range quoted.FindAllStringSubmatch(text, -1) {
		all = append(all, found[1])
	}
	return all
}

// Unshown returns permissions that are used, but in none of the stories of their row. The function returns the story of
// a request, or "" if it is unknown.
func Unshown(rows []Row, requests []Request, story func(Request) string) []string {
	var all []string
	for _, row := range rows {
		for _, right := range row.Rights {
			var in []string
			for _, request := range requests {
				if name := story(request); name != "" && right.Allows(request) && !slices.Contains(in, name) {
					in = append(in, name)
				}
			}
			shown := slices.ContainsFunc(row.Stories, func(s string) bool { return slices.Contains(in, s) })
			if len(in) > 0 && !shown {
				all = append(all, fmt.Sprintf("%s is not used in %v, but in %v", right, row.Stories, in[:min(5, len(in))]))
			}
		}
	}
	return all
}
