/*
SPDX-License-Identifier: Apache-2.0
*/

package internal_test

import (
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	ours = "github.com/dbcluster/databasecluster-operator/"
	root = ".."
	// page has the picture, between marks.
	page             = "../docs/design.md"
	opening, closing = "<!-- packages: go test ./internal -update -->\n", "<!-- end of packages -->\n"
)

var update = flag.Bool("update", false, "write the picture of the packages into docs/design.md")

// imports are the imports of each package, each with one of the files that has it: not the one that reads, if others have it, too.
type imports map[string]map[string]string

// readImports reads the imports of the operator's packages, without those of tests.
func readImports(t *testing.T) imports {
	t.Helper()
	all := imports{}
	eachFile(t, func(name, file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		if all[name] == nil {
			all[name] = map[string]string{}
		}
		for _, i := range parsed.Imports {
			target := strings.Trim(i.Path.Value, `"`)
			if _, found := all[name][target]; !found || !slices.Contains(impure, path.Base(file)) {
				all[name][target] = file
			}
		}
	})
	return all
}

// eachFile calls a function for each file of the operator that is no test.
func eachFile(t *testing.T, do func(name, file string)) {
	t.Helper()
	for _, folder := range []string{"internal", "cmd", "config"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "testing"):
				return fs.SkipDir
			case entry.IsDir(), path.Ext(file) != ".go", strings.HasSuffix(file, "_test.go"):
				return nil
			}
			name, _ := packageOf(ours + filepath.ToSlash(filepath.Dir(strings.TrimPrefix(file, root+"/"))))
			do(name, file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// packageOf is the name of a package of the operator as in the order. The API and the tests have none.
func packageOf(target string) (name string, internal bool) {
	name, internal = strings.CutPrefix(target, ours)
	if !internal || strings.HasPrefix(name, "api/") {
		return "", false
	}
	return strings.TrimPrefix(name, "internal/"), true
}

// The picture shows the order and what each package imports directly. An import that another one brings along is left out.
func TestThePictureOfThePackagesIsCurrent(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), opening)
	_, after, closed := strings.Cut(rest, closing)
	if !found || !closed {
		t.Fatalf("%s has no marks for the picture", page)
	}
	current := before + opening + picture(t, readImports(t)) + closing + after
	switch {
	case current == string(text):
	case *update:
		if err := os.WriteFile(page, []byte(current), 0o644); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
	default:
		t.Errorf("the packages in %s are not current: run go test ./internal -update", page)
	}
}

func picture(t *testing.T, all imports) string {
	t.Helper()
	var drawn strings.Builder
	drawn.WriteString("\n```mermaid\nflowchart TD\n")
	arrows := arrows(all)
	for _, from := range slices.Sorted(maps.Keys(arrows)) {
		for _, to := range slices.Sorted(maps.Keys(arrows[from])) {
			if !brought(arrows, from, to) {
				fmt.Fprintf(&drawn, "  %s --> %s\n", from, to)
			}
		}
	}
	drawn.WriteString("```\n\n| package | pure | what it does |\n|---|---|---|\n")
	purposes := purposes(t)
	for _, p := range order {
		if purpose := purposes[p.name]; purpose != "" {
			fmt.Fprintf(&drawn, "| %s | %s | %s |\n", p.name, map[bool]string{true: "yes"}[p.pure], purpose)
		}
	}
	return drawn.String() + "\n"
}

// arrows are the imports between packages of the operator.
func arrows(all imports) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for from, targets := range all {
		found[from] = map[string]bool{}
		for target := range targets {
			if to, internal := packageOf(target); internal && to != from {
				found[from][to] = true
			}
		}
	}
	return found
}

// brought reports whether another import of a package imports the target.
func brought(arrows map[string]map[string]bool, from, to string) bool {
	var reaches func(at string) bool
	reaches = func(at string) bool {
		return arrows[at][to] || slices.ContainsFunc(slices.Collect(maps.Keys(arrows[at])), reaches)
	}
	for other := range arrows[from] {
		if other != to && reaches(other) {
			return true
		}
	}
	return false
}

// purposes are the first sentences of the comments of the packages, without the name.
func purposes(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	eachFile(t, func(name, file string) {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if text := new(doc.Package).Synopsis(parsed.Doc.Text()); text != "" {
			_, sentence, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(text, "Package "), "Command "), " ")
			found[name] = sentence
		}
	})
	return found
}
