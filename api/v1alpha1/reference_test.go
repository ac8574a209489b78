/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// section is the part of docs/reference.md below a heading, up to the next heading of the same level or above.
func section(t *testing.T, heading string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+heading+"\n")
	if !found {
		t.Fatalf("docs/reference.md has no heading %q", heading)
	}
	level, _, _ := strings.Cut(heading, " ")
	next := regexp.MustCompile(`(?m)^#{1,` + strconv.Itoa(len(level)) + `} `).FindStringIndex(rest)
	if next == nil {
		return rest
	}
	return rest[:next[0]]
}

// rows are the rows of the tables of a text, by the name in their first cell.
func rows(text string) map[string]string {
	all := map[string]string{}
	for _, found := range regexp.MustCompile("(?m)^\\| `([^`]+)`.*$").FindAllStringSubmatch(text, -1) {
		all[found[1]] = found[0]
	}
	return all
}

// same reports names that are only in the code or only in a table. Lists may be marked in the table.
func same(t *testing.T, where string, code []string, table map[string]string) {
	t.Helper()
	for name := range table {
		if !slices.Contains(code, strings.TrimSuffix(name, "[]")) {
			t.Errorf("docs/reference.md, %s: %s is not in the API", where, name)
		}
	}
	for _, name := range code {
		if table[name] == "" && table[name+"[]"] == "" {
			t.Errorf("docs/reference.md, %s: %s is missing", where, name)
		}
	}
}

// constants are the string constants of a file of this package whose names match.
func constants(t *testing.T, file string, named func(string) bool) map[string]string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !named(spec.Names[0].Name) {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			all[spec.Names[0].Name] = value
		}
		return true
	})
	return all
}

func TestTheReferenceNamesEveryConditionAndReasonAndNoOther(t *testing.T) {
	text := section(t, "## Conditions and reasons")
	known := constants(t, "conditions.go", func(string) bool { return true })
	for name, value := range known {
		if !strings.Contains(text, "`"+value+"`") {
			t.Errorf("docs/reference.md does not name %s (%s)", value, name)
		}
	}
	for name := range rows(text) {
		found := false
		for _, value := range known {
			found = found || value == name
		}
		if !found {
			t.Errorf("docs/reference.md: %s is no condition or reason", name)
		}
	}
}

func TestTheReferenceNamesEveryLabelAndAnnotationAndNoOther(t *testing.T) {
	text := section(t, "## Labels and annotations")
	table, records := rows(text), regexp.MustCompile(`keeps records of its own: (.*)\. \[`).FindStringSubmatch(text)
	if records == nil {
		t.Fatal("docs/reference.md has no list of the records that the operator keeps")
	}
	for name := range strings.SplitSeq(records[1], ", ") {
		table["database.dbcluster.io/"+strings.Trim(name, "`")] = name
	}
	table["scripts.database.dbcluster.io/"] = "a record with any name"
	var keys []string
	for _, value := range constants(t, "labels.go", func(string) bool { return true }) {
		if strings.Contains(value, "/") {
			keys = append(keys, value)
		}
	}
	same(t, "labels and annotations", keys, table)
}
