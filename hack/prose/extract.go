/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// category is what kind of prose a text is. It is part of the name of the file that Vale reads, by which .vale.ini
// chooses the rules.
type category string

const (
	messages category = "messages"
	// short are messages of less than three words.
	short    category = "short"
	crd      category = "crd"
	comments category = "comments"
	docs     category = "docs"
)

var categories = []category{messages, short, crd, comments, docs}

// line is one line of prose and its line in the source.
type line struct {
	text   string
	number int
}

// paragraph is prose that belongs together: sentences do not go beyond it.
type paragraph struct {
	category category
	lines    []line
}

// source is the prose of one file. Vale reads the file itself if it is native, and the paragraphs from another file.
type source struct {
	file       string
	paragraphs []paragraph
	native     bool
	allowed    []*allowance
}

type sources []*source

// extract reads the prose of a checkout.
func extract(checkout fs.FS) (sources, error) {
	var all sources
	err := fs.WalkDir(checkout, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if skipped(file, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		read := reader(file)
		if read == nil {
			return nil
		}
		text, err := fs.ReadFile(checkout, file)
		if err != nil {
			return err
		}
		is, err := read(file, text)
		if err != nil {
			return fmt.Errorf("read the prose of %s: %w", file, err)
		}
		if len(is.paragraphs) > 0 || is.native {
			is.file, is.allowed = file, allowances(string(text), strings.HasSuffix(file, ".md"))
			all = append(all, is)
		}
		return nil
	})
	return all, err
}

func skipped(folder, name string) bool {
	return folder != "." && folder != ".github" && strings.HasPrefix(name, ".") ||
		slices.Contains([]string{"testdata", "bin", "dist", "applyconfiguration", "node_modules"}, name) ||
		slices.Contains([]string{"bundle", "hack/prose/styles"}, folder)
}

// copies are files whose texts come from another file: the types of the API, the alerts.
var copies = []string{"docs/api.md", "config/prometheus/alerts_test.yaml"}

// readers are how the prose of files is read, by a pattern of their paths or of their names.
var readers = []struct {
	file *regexp.Regexp
	read func(string, []byte) (*source, error)
}{
	{regexp.MustCompile(`\.md$`), func(string, []byte) (*source, error) { return &source{native: true}, nil }},
	{regexp.MustCompile(`\.go$`), readGo},
	{regexp.MustCompile(`^Makefile$|\.mk$`), readMakefile},
	{regexp.MustCompile(`\.sh$`), readShell},
	{regexp.MustCompile(`^charts/[^/]+/templates/`), readTemplate},
	{regexp.MustCompile(`^charts/[^/]+/(values|Chart)\.yaml$`), readYAML},
	{regexp.MustCompile(`^config/crd/bases/`), nil},
	{regexp.MustCompile(`^config/engines/[^/]+\.yaml$`), nil}, // assembled from the folders
	{regexp.MustCompile(`^config/engines/[^/]+/scripts/`), readShell},
	{regexp.MustCompile(`^(config|\.github)/.*\.ya?ml$`), readYAML},
	{regexp.MustCompile(`^config/argocd/.*\.lua$`), readLua},
	{regexp.MustCompile(`^config/grafana/.*\.json$`), readDashboard},
	{regexp.MustCompile(`^config/headlamp/.*\.(tsx?|mjs)$`), readTypeScript},
	{regexp.MustCompile(`^docs/.*\.svg$`), readSVG},
}

// reader returns how the prose of a file is read; nil when it has none.
func reader(file string) func(string, []byte) (*source, error) {
	if slices.Contains(copies, file) {
		return nil
	}
	for _, r := range readers {
		if r.file.MatchString(file) {
			return r.read
		}
	}
	return nil
}

// native returns the files that Vale reads as they are.
func (s sources) native() map[string]written {
	names := map[string]written{}
	for _, is := range s {
		if is.native {
			names[filepath.FromSlash(is.file)] = written{source: is}
		}
	}
	return names
}

// write writes the files that Vale reads: for each source one of each category, a paragraph between blank lines. It
// returns the lines of the sources by the names of these files.
func (s sources) write(folder string) (map[string]written, error) {
	names := map[string]written{}
	for _, is := range s {
		for _, c := range categories {
			name := filepath.FromSlash(is.file) + "." + string(c) + ".txt"
			w := written{source: is}
			var text strings.Builder
			for _, p := range is.paragraphs {
				if p.category == c {
					w.add(&text, p)
				}
			}
			if text.Len() == 0 {
				continue
			}
			if err := writeFile(filepath.Join(folder, name), []byte(text.String())); err != nil {
				return nil, err
			}
			names[name] = w
		}
	}
	return names, nil
}

// written is a file that Vale reads; numbers are the lines in the source of each of its lines, nil where they are the same.
type written struct {
	source  *source
	numbers []int
}

// add adds a paragraph. Vale ends a sentence at its punctuation, not at a blank line: a paragraph without gets a period.
func (w *written) add(text *strings.Builder, p paragraph) {
	for i, l := range p.lines {
		prose := mask(l.text)
		if i == len(p.lines)-1 && !ended.MatchString(prose) {
			prose += "."
		}
		fmt.Fprintln(text, prose)
		w.numbers = append(w.numbers, l.number)
	}
	fmt.Fprintln(text)
	w.numbers = append(w.numbers, p.lines[len(p.lines)-1].number)
}

// line returns the line of the source for a line that Vale names.
func (w *written) line(n int) int {
	if w.numbers == nil {
		return n
	}
	return w.numbers[min(max(n, 1), len(w.numbers))-1]
}

func writeFile(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// ended is the end of a text that ends a sentence; '.' in quotes is no period.
var ended = regexp.MustCompile(`[^'.\s][.!?]["')\]]*\s*$`)

var (
	codeSpan = regexp.MustCompile("`[^`]+`")
	dotted   = regexp.MustCompile(`(\w)\.(\w)`)
)

// mask replaces what stands in code spans, which is no prose, and the dots in spec.backup: after a word with dots Vale
// takes the period for that of an abbreviation.
func mask(text string) string {
	text = codeSpan.ReplaceAllStringFunc(text, func(span string) string {
		return "`" + strings.Repeat("x", len(span)-2) + "`"
	})
	return dotted.ReplaceAllString(text, "${1}_$2")
}
