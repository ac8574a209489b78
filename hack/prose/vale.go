/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const config = "hack/prose/.vale.ini"

// finding is what a rule finds, with its place in the source.
type finding struct {
	file     string
	line     int
	rule     string
	severity string
	message  string
}

// alert is a finding as Vale prints it.
type alert struct {
	Check    string
	Line     int
	Message  string
	Severity string
}

// check returns what the rules find in some files and folders of a checkout, in all when none is named, without what
// its exceptions allow.
func check(vale, checkout string, paths []string) ([]finding, error) {
	done := progress("checking the prose of " + checkout)
	defer done()
	extracted, err := open(checkout)
	if err != nil {
		return nil, err
	}
	if extracted, err = extracted.within(paths); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "prose")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	names, err := extracted.write(folder)
	if err != nil {
		return nil, err
	}
	if vale == "" {
		if vale, err = tool(); err != nil {
			return nil, err
		}
	}
	alerts, err := judge(vale, folder, ".")
	if err != nil {
		return nil, err
	}
	found := located(alerts, names)
	native := extracted.native()
	if alerts, err = judge(vale, checkout, slices.Sorted(maps.Keys(native))...); err != nil {
		return nil, err
	}
	found = append(found, located(alerts, native)...)
	found = append(found, extracted.useless()...)
	sorted(found)
	return found, nil
}

// open reads the prose of a checkout in a folder.
func open(checkout string) (sources, error) {
	if _, err := os.Stat(checkout); err != nil {
		return nil, err // extract names this folder "."
	}
	return extract(os.DirFS(checkout))
}

// progress prints a line when what follows takes long, and again every ten seconds.
func progress(what string) func() {
	started, stop := time.Now(), make(chan struct{})
	go func() {
		wait := 2 * time.Second
		for {
			select {
			case <-stop:
				return
			case <-time.After(wait):
				fmt.Fprintf(os.Stderr, "%s, %s ...\n", what, time.Since(started).Round(time.Second))
				wait = 10 * time.Second
			}
		}
	}()
	return func() { close(stop) }
}

// tool returns the path of the pinned Vale.
func tool() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "run", "-C", "hack/local", ".", "tool", "vale", "--repo", root)
	build.Stderr = os.Stderr
	output, err := build.Output()
	if err != nil {
		return "", fmt.Errorf("build Vale, in the root of the repository: %w", err)
	}
	return strings.TrimSpace(string(output)), nil
}

// judge runs Vale on files and folders in a folder.
func judge(vale, folder string, paths ...string) (map[string][]alert, error) {
	rules, err := filepath.Abs(config)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, nil
	}
	command := exec.Command(vale, append([]string{"--config=" + rules, "--output=JSON", "--no-exit"}, paths...)...)
	command.Dir = folder
	var problem bytes.Buffer
	command.Stderr = &problem
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("run Vale: %w\n%s%s", err, output, problem.String())
	}
	var alerts map[string][]alert
	if err := json.Unmarshal(output, &alerts); err != nil {
		return nil, fmt.Errorf("read what Vale printed: %w\n%.500s", err, output)
	}
	return alerts, nil
}

// located names the sources of what Vale found, and leaves out what is allowed there. An exception is for the first of
// the findings, so they are sorted.
func located(alerts map[string][]alert, names map[string]written) []finding {
	var found []finding
	files := map[string]*source{}
	for name, those := range alerts {
		w, known := names[filepath.Clean(name)]
		if !known {
			continue
		}
		files[w.source.file] = w.source
		for _, a := range those {
			found = append(found, finding{w.source.file, w.line(a.Line), a.Check, a.Severity, a.Message})
		}
	}
	sorted(found)
	return slices.DeleteFunc(found, func(f finding) bool { return files[f.file].allows(f.rule, f.line) })
}

// sorted sorts findings by their places.
func sorted(found []finding) {
	slices.SortStableFunc(found, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.file, b.file), cmp.Compare(a.line, b.line), strings.Compare(a.rule, b.rule))
	})
}

// useless finds exceptions that allow nothing or give no reason.
func (s sources) useless() []finding {
	var found []finding
	for _, is := range s {
		for _, a := range is.allowed {
			problem := ""
			switch {
			case a.reason == "":
				problem = "give the exception a reason: prose:allow " + a.rule + ": REASON"
			case !a.used:
				problem = "remove the exception: " + a.rule + " finds nothing here"
			default:
				continue
			}
			found = append(found, finding{is.file, a.line, "Exception", "error", problem})
		}
	}
	return found
}

// within returns the sources in some files and folders; all when none is named.
func (s sources) within(paths []string) (sources, error) {
	if len(paths) == 0 {
		return s, nil
	}
	selected := map[*source]bool{}
	for _, named := range paths {
		p, err := relative(named)
		if err != nil {
			return nil, err
		}
		found := false
		for _, is := range s {
			if p == "." || is.file == p || strings.HasPrefix(is.file, p+"/") {
				selected[is], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("PROSE names %s, which has no prose in this checkout", named)
		}
	}
	return slices.DeleteFunc(s, func(is *source) bool { return !selected[is] }), nil
}

// relative returns a path as extract names it: from the root of the repository, with slashes.
func relative(named string) (string, error) {
	if !filepath.IsAbs(named) {
		return filepath.ToSlash(filepath.Clean(named)), nil
	}
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	p, err := filepath.Rel(root, named)
	return filepath.ToSlash(p), err
}

// report prints findings, and returns an error when one is an error.
func report(out io.Writer, found []finding, all bool) error {
	counts := map[string]int{}
	for _, f := range found {
		counts[f.severity]++
		if all || f.severity != "suggestion" {
			fmt.Fprintf(out, "%s:%d: %s: %s (%s)\n", f.file, f.line, f.severity, f.message, f.rule)
		}
	}
	fmt.Fprintf(out, "%d errors, %d warnings, %d suggestions\n", counts["error"], counts["warning"], counts["suggestion"])
	if counts["error"] > 0 {
		return errors.New("correct the text or add an exception: see \"Prose\" in docs/contributing.md")
	}
	return nil
}
