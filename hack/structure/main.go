/*
SPDX-License-Identifier: Apache-2.0
*/

// Command structure measures the packages of a checkout: lines of code and of tests, length of functions, files over 300 lines. It
// leaves out generated code.
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
	"path"
	"slices"
	"strings"
)

// maxFile is the maximum number of lines in a file.
const maxFile = 300

// room is a folder with Go code.
type room struct {
	code, tests int
}

type house struct {
	rooms map[string]*room
	// functions are the lengths of functions, in lines; long are the files with more than maxFile lines.
	functions []int
	long      []string
}

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	h := &house{rooms: map[string]*room{}}
	if err := h.readAll(os.DirFS(root)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	h.table()
	h.measures()
}

func (h *house) readAll(checkout fs.FS) error {
	return fs.WalkDir(checkout, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := entry.Name(); {
		case entry.IsDir() && file != "." && (strings.HasPrefix(name, ".") || name == "testdata"):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(checkout, file)
		if err != nil {
			return err
		}
		return h.read(file, text)
	})
}

func (h *house) read(file string, text []byte) error {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, file, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil || ast.IsGenerated(parsed) {
		return err
	}
	folder := path.Dir(file)
	if h.rooms[folder] == nil {
		h.rooms[folder] = &room{}
	}
	is, lines := h.rooms[folder], files.File(parsed.Pos()).LineCount()
	if strings.HasSuffix(file, "_test.go") || strings.HasPrefix(folder, "internal/testing/") {
		is.tests += lines
		return nil
	}
	is.code += lines
	if lines > maxFile {
		h.long = append(h.long, fmt.Sprintf("%s (%d)", file, lines))
	}
	h.measure(files, parsed)
	return nil
}

// measure records the length of each function.
func (h *house) measure(files *token.FileSet, parsed *ast.File) {
	for _, d := range parsed.Decls {
		if f, is := d.(*ast.FuncDecl); is && f.Body != nil {
			h.functions = append(h.functions, files.Position(f.End()).Line-files.Position(f.Pos()).Line+1)
		}
	}
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
