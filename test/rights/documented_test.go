/*
SPDX-License-Identifier: Apache-2.0
*/

package rights

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func documented(t *testing.T) []Row {
	t.Helper()
	rows, err := Documented("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestEveryRightIsDocumentedAndNoOther(t *testing.T) {
	var listed []Right
	for _, row := range documented(t) {
		if len(row.Why) < 10 {
			t.Errorf("docs/security.md gives no reason for %v", row.Rights)
		}
		listed = append(listed, row.Rights...)
	}
	for _, right := range shipped(t) {
		if !slices.Contains(listed, right) {
			t.Errorf("docs/security.md has no reason for %s", right)
		}
	}
	for i, right := range listed {
		if !slices.Contains(shipped(t), right) {
			t.Errorf("docs/security.md grants %s, but config/rbac does not", right)
		}
		if slices.Contains(listed[:i], right) {
			t.Errorf("docs/security.md has %s twice", right)
		}
	}
}

func TestEveryRightIsShownByATestThatExists(t *testing.T) {
	var tests strings.Builder
	files, _ := filepath.Glob("../integration/*_test.go")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tests.Write(text)
	}
	for _, row := range documented(t) {
		if len(row.Stories) == 0 {
			t.Errorf("docs/security.md names no test that shows %v", row.Rights)
		}
		for _, story := range row.Stories {
			if !strings.Contains(tests.String(), "\nfunc "+story+"(") {
				t.Errorf("docs/security.md names the test %s, but test/integration does not have it", story)
			}
		}
	}
}

const page = "Text.\n\n**`one-role`**, in its namespace:\n\n| resource | verbs | why | shown by |\n|---|---|---|---|\n" +
	"| `leases.coordination.k8s.io` only `ours` | get, update | hold it | `TestA`, `TestB` |\n" +
	"| `pods`, `pods/log` | get | look at them | `TestC` |\n\n| `no` | row | at | all |\n\n**`other-role`**:\n\n| `jobs.batch/status` | patch | say | `TestD` |\n"

func TestATableIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := Documented(path)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%v (%v)", rows, err)
	}
	want := []Right{
		{"one-role", "get", "coordination.k8s.io", "leases", "ours"}, {"one-role", "update", "coordination.k8s.io", "leases", "ours"},
		{"one-role", "get", "", "pods", ""}, {"one-role", "get", "", "pods/log", ""}, {"other-role", "patch", "batch", "jobs/status", ""},
	}
	if got := slices.Concat(rows[0].Rights, rows[1].Rights, rows[2].Rights); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !slices.Equal(rows[0].Stories, []string{"TestA", "TestB"}) || rows[1].Why != "look at them" {
		t.Errorf("%+v", rows)
	}
}

func TestAStoryThatDoesNotUseTheRightIsFound(t *testing.T) {
	row := Row{Rights: []Right{readsPods}, Stories: []string{"TestA"}}
	in := func(story string) []Request {
		return []Request{{Verb: "get", Resource: "pods", Code: 200, Namespace: story}}
	}
	story := func(r Request) string { return r.Namespace }
	for name, unshown := range map[string]int{"TestA": 0, "TestB": 1, "": 0} {
		if got := Unshown([]Row{row}, in(name), story); len(got) != unshown {
			t.Errorf("used in %q: %v", name, got)
		}
	}
}
