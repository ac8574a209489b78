/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheReferenceNamesEveryEventAndNoOther(t *testing.T) {
	var sources []string
	for _, directory := range []string{"../*/*.go", "../plan/*/*.go"} {
		found, err := filepath.Glob(directory)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, found...)
	}
	others := func(file string) bool { // those of tests, and those about the DatabaseBackup
		return strings.HasSuffix(file, "_test.go") || strings.HasPrefix(file, "../backup/")
	}
	sources = slices.DeleteFunc(sources, others)
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	find := func(text, pattern string) map[string]bool {
		all := map[string]bool{}
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			all[found[1]] = true
		}
		return all
	}
	reported := map[string]bool{}
	for _, source := range sources {
		maps.Copy(reported, find(read(source), `(?:kit|operation)\.(?:Normal|Warning)\("([A-Za-z]+)",`))
	}
	_, section, _ := strings.Cut(read("../../docs/reference.md"), "\nOn the DatabaseCluster:\n")
	named := find(regexp.MustCompile("\nOn |\n## ").Split(section, 2)[0], "(?m)^\\| `([A-Z][A-Za-z]+)`(?: \\(warning\\))? \\|")
	for _, event := range slices.Sorted(maps.Keys(reported)) {
		if !named[event] {
			t.Errorf("docs/reference.md does not name the event %s", event)
		}
		delete(named, event)
	}
	for event := range named {
		t.Errorf("docs/reference.md names %s, which is no event", event)
	}
}
