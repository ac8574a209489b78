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
	"testing"
)

func TestTheReferenceNamesEveryEventAndNoOther(t *testing.T) {
	sources, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	find := func(file, pattern string) map[string]bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]bool{}
		for _, found := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			all[found[1]] = true
		}
		return all
	}
	told := map[string]bool{}
	for _, source := range sources {
		maps.Copy(told, find(source, `normal\("([A-Za-z]+)",`))
	}
	named := find("../../docs/reference.md", "(?m)^\\| `((?:Member|Volume|StatefulSet|Hook|Restore)[A-Za-z]+)` \\|")
	for _, reason := range []string{"HookFailed", "RestoreFailed", "VolumesKept"} {
		delete(named, reason)
	}
	for _, event := range slices.Sorted(maps.Keys(told)) {
		if !named[event] {
			t.Errorf("docs/reference.md does not name the event %s", event)
		}
		delete(named, event)
	}
	for event := range named {
		t.Errorf("docs/reference.md names %s, which is no event", event)
	}
}
