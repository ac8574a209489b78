/*
SPDX-License-Identifier: Apache-2.0
*/

package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shared are the type names that several packages have, each with the reason.
var shared = map[string]string{
	"Event":      "in kit an alias, so that a kind needs no other package for it",
	"Facts":      "what a subject reads for itself: the package names the subject",
	"Plan":       "the plan of a subject, and in the package of a pass the interface of these plans: the package names the subject",
	"Reconciler": "controller-runtime's word: the package names the kind",
}

// verbs is the package whose types are the commands of the program transfer. Their names are its command line: they stay.
const verbs = "protocol"

func TestAnExportedTypeNameIsInOnePackage(t *testing.T) {
	packages := map[string][]string{}
	declarations(t, func(file string, d ast.Decl) {
		types, ok := d.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE || filepath.Dir(file) == verbs {
			return
		}
		for _, s := range types.Specs {
			if name := s.(*ast.TypeSpec).Name; name.IsExported() && !slices.Contains(packages[name.Name], filepath.Dir(file)) {
				packages[name.Name] = append(packages[name.Name], filepath.Dir(file))
			}
		}
	})
	if len(packages) < 100 {
		t.Fatalf("only %d types found", len(packages))
	}
	for name, all := range packages {
		if shared[name] == "" && len(all) > 1 {
			t.Errorf("type %s is in %s: give each a name of its own, or add the reason to the list in this test", name, strings.Join(all, " and "))
		}
	}
	for name := range shared {
		if len(packages[name]) < 2 {
			t.Errorf("type %s is in one package: remove it from the list in this test", name)
		}
	}
}

func TestTheCommentOfAFunctionStartsWithItsName(t *testing.T) {
	declarations(t, func(file string, d ast.Decl) {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			return
		}
		if first, _, _ := strings.Cut(f.Doc.Text(), " "); strings.TrimRight(first, ",:\n") != f.Name.Name {
			t.Errorf("%s: the comment of %s starts with %q", file, f.Name.Name, first)
		}
	})
}

// A word of the glossary names the package and the declaration that it stands for.
func TestTheGlossaryNamesWhatExists(t *testing.T) {
	names := map[string]bool{}
	declarations(t, func(file string, d ast.Decl) { exported(names, filepath.Base(filepath.Dir(file)), d) })
	inFolder(t, "../api/v1alpha1", func(_ string, d ast.Decl) { exported(names, "dbv1", d) })
	page, err := os.ReadFile("../docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 4 || cells[0] == "| term" {
			continue
		}
		rows++
		if name := strings.Trim(cells[2], "`"); !names[name] {
			t.Errorf("docs/glossary.md: %s is not declared", name)
		}
	}
	if rows < 30 {
		t.Errorf("docs/glossary.md has only %d rows", rows)
	}
}

// exported adds the exported names of a declaration.
func exported(names map[string]bool, pkg string, d ast.Decl) {
	if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil {
		names[pkg+"."+f.Name.Name] = f.Name.IsExported()
	}
	if g, ok := d.(*ast.GenDecl); ok {
		for _, s := range g.Specs {
			if of, ok := s.(*ast.TypeSpec); ok {
				names[pkg+"."+of.Name.Name] = of.Name.IsExported()
			}
		}
	}
}

// declarations calls the function with each declaration of this folder outside tests, and with its file.
func declarations(t *testing.T, each func(file string, d ast.Decl)) {
	t.Helper()
	inFolder(t, ".", each)
}

// inFolder calls the function with each declaration below a folder outside tests.
func inFolder(t *testing.T, folder string, each func(file string, d ast.Decl)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range parsed.Decls {
			each(file, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
