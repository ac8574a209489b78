/*
SPDX-License-Identifier: Apache-2.0
*/

// Command structure draws the packages of a checkout and what they import of each other, and measures them: lines of code and
// of tests, length of functions, files over 300 lines. Generated code is left out. It writes Markdown with a Mermaid graph.
//
//	go run ./hack/structure [checkout]
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const module = "github.com/dbcluster/databasecluster-operator/"

// maxFile is how many lines a file may have.
const maxFile = 300

// room is one folder with Go code.
type room struct {
	code, tests int
	imports     map[string]bool
}

type house struct {
	root  string
	rooms map[string]*room
	// functions are the lengths of those of the code, in lines; long are its files with more lines than maxFile.
	functions []int
	long      []string
}

func main() {
	h := &house{root: ".", rooms: map[string]*room{}}
	if len(os.Args) > 1 {
		h.root = os.Args[1]
	}
	if err := filepath.WalkDir(h.root, h.visit); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	h.draw()
	h.table()
	h.measures()
}

func (h *house) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	if entry.IsDir() && path != h.root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata") {
		return filepath.SkipDir
	}
	if entry.IsDir() || filepath.Ext(path) != ".go" {
		return nil
	}
	return h.read(path)
}

func (h *house) read(path string) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return err
	}
	folder, err := filepath.Rel(h.root, filepath.Dir(path))
	if err != nil {
		return err
	}
	if h.rooms[folder] == nil {
		h.rooms[folder] = &room{imports: map[string]bool{}}
	}
	is := h.rooms[folder]
	lines := files.File(parsed.Pos()).LineCount()
	if strings.HasSuffix(path, "_test.go") || strings.HasPrefix(folder, "internal/testing/") {
		is.tests += lines
		return nil
	}
	is.code += lines
	if lines > maxFile {
		h.long = append(h.long, fmt.Sprintf("%s (%d)", filepath.Join(folder, filepath.Base(path)), lines))
	}
	is.note(parsed.Imports)
	for _, d := range parsed.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
			h.functions = append(h.functions, files.Position(f.End()).Line-files.Position(f.Pos()).Line+1)
		}
	}
	return nil
}

func (r *room) note(imports []*ast.ImportSpec) {
	for _, i := range imports {
		if ours, found := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module); found {
			r.imports[ours] = true
		}
	}
}

// draw draws what the operator itself consists of.
func (h *house) draw() {
	fmt.Print("```mermaid\nflowchart LR\n")
	for _, from := range slices.Sorted(maps.Keys(h.rooms)) {
		if !strings.HasPrefix(from, "internal/") && !strings.HasPrefix(from, "cmd") || h.rooms[from].code == 0 {
			continue
		}
		fmt.Printf("  %s[\"%s<br/>%d\"]\n", id(from), strings.TrimPrefix(from, "internal/"), h.rooms[from].code)
		for _, to := range slices.Sorted(maps.Keys(h.rooms[from].imports)) {
			if strings.HasPrefix(to, "internal/") { // everything imports the API
				fmt.Printf("  %s --> %s\n", id(from), id(to))
			}
		}
	}
	fmt.Print("```\n\n")
}

func id(folder string) string {
	return strings.NewReplacer("/", "_", "-", "_", ".", "_").Replace(folder)
}

func (h *house) table() {
	fmt.Print("| package | code | tests |\n|---|---:|---:|\n")
	code, tests := 0, 0
	for _, folder := range slices.Sorted(maps.Keys(h.rooms)) {
		is := h.rooms[folder]
		fmt.Printf("| %s | %d | %d |\n", folder, is.code, is.tests)
		code, tests = code+is.code, tests+is.tests
	}
	fmt.Printf("| **all** | **%d** | **%d** |\n\n", code, tests)
}

func (h *house) measures() {
	slices.Sort(h.functions)
	at := func(percent int) int { return h.functions[(len(h.functions)-1)*percent/100] }
	fmt.Printf("%d functions, in lines: median %d, p90 %d, max %d\n\n", len(h.functions), at(50), at(90), at(100))
	fmt.Printf("%d files with more than %d lines: %s\n", len(h.long), maxFile, strings.Join(h.long, ", "))
}
