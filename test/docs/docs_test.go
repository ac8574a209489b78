/*
SPDX-License-Identifier: Apache-2.0
*/

// Package docs compares the documentation with the repository: links, make targets, functions, the index.
package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

var (
	links    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped  = regexp.MustCompile(`[^a-z0-9 _-]`)
	blocks   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	spans    = regexp.MustCompile("`[^`]*`")
	// commands match code that begins with make, up to the first word that cannot be a target.
	commands = regexp.MustCompile("(?m)(?:^|`|&& |PATH=\\$PATH )make((?: +[a-z][a-z0-9-]*)+)(?:[ `]|$)")
	// symbols match links from a Go declaration to its file.
	symbols = regexp.MustCompile("\\[`([A-Za-z.]+)`\\]\\(([^)]+\\.go)\\)")
	targets = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// pages returns the content of every page by its path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/runbooks/*.md", "docs/benchmarks/*.md", "test/*.md", "test/*/*.md", "hack/local/*.md", "config/engines/*.md", ".github/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[file] = string(content)
		}
	}
	if len(all) < 15 {
		t.Fatalf("there are only %d pages", len(all))
	}
	return all
}

// anchors returns the anchors that GitHub generates for the headings of a page.
func anchors(content string) map[string]bool {
	all := map[string]bool{"": true}
	for _, heading := range headings.FindAllStringSubmatch(blocks.ReplaceAllString(content, ""), -1) {
		all["#"+strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	return all
}

func TestEveryLinkOfThePagesHasATarget(t *testing.T) {
	known := map[string]map[string]bool{} // anchors by page
	for page, content := range pages(t) {
		for _, link := range links.FindAllStringSubmatch(spans.ReplaceAllString(blocks.ReplaceAllString(content, ""), ""), -1) {
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if link[2] == "" {
				continue
			}
			if known[target] == nil {
				linked, err := os.ReadFile(target)
				if err != nil {
					t.Fatal(err)
				}
				known[target] = anchors(string(linked))
			}
			if !known[target][link[2]] {
				t.Errorf("%s links to %s%s, which does not exist", page, link[1], link[2])
			}
		}
	}
}

func TestEveryMakeTargetOnAPageExists(t *testing.T) {
	known := makeTargets(t)
	named := map[string]bool{}
	for page, content := range pages(t) {
		for _, command := range commands.FindAllStringSubmatch(content, -1) {
			for target := range strings.FieldsSeq(command[1]) {
				named[target] = true
				if !known[target] {
					t.Errorf("%s names make %s, which is not a target (make help-all)", page, target)
				}
			}
		}
	}
	if len(named) < 20 {
		t.Errorf("found only %d make targets on the pages: %v", len(named), named)
	}
}

func TestMakeHelpShowsTwelveTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(makefile), "\nFIRST = ")
	first, _, _ := strings.Cut(rest, "\n")
	known, names := makeTargets(t), strings.Split(first, "|")
	for _, name := range names {
		if !known[name] {
			t.Errorf("FIRST in the Makefile names %q, which is not a target (make help-all)", name)
		}
	}
	if len(names) != 12 {
		t.Errorf("make help shows %d targets: %v", len(names), names)
	}
}

// makeTargets are the targets of the Makefile and of the files that it includes.
func makeTargets(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "make", "*.mk"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, file := range append(files, filepath.Join(root, "Makefile")) {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range targets.FindAllStringSubmatch(string(content), -1) {
			known[target[1]] = true
		}
	}
	return known
}

// design.md explains a pass by its functions.
func TestEveryFunctionThatAPageLinksToIsDeclaredThere(t *testing.T) {
	linked := 0
	for page, content := range pages(t) {
		for _, link := range symbols.FindAllStringSubmatch(content, -1) {
			linked++
			parts := strings.Split(link[1], ".")
			if name := parts[len(parts)-1]; !declared(t, filepath.Join(filepath.Dir(page), link[2]))[name] {
				t.Errorf("%s: %s does not declare %s", page, link[2], name)
			}
		}
	}
	if linked < 15 {
		t.Errorf("found only %d links to functions", linked)
	}
}

// declared returns the names of the functions, methods, types and variables of a file.
func declared(t *testing.T, file string) map[string]bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, d := range parsed.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			all[d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					all[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						all[name.Name] = true
					}
				}
			}
		}
	}
	return all
}

func TestTheIndexLinksToEveryPage(t *testing.T) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	linked := map[string]bool{"README.md": true}
	for _, link := range links.FindAllStringSubmatch(string(index), -1) {
		linked[link[1]] = true
	}
	for _, file := range files {
		if name := filepath.Base(file); !linked[name] {
			t.Errorf("docs/README.md does not link to %s", name)
		}
	}
	if !linked["runbooks"] || len(linked) < 25 {
		t.Errorf("docs/README.md has only these links: %v", linked)
	}
}
