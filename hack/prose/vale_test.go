/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// exception is written in two parts, so that it is none for this file.
const exception = "prose" + ":allow "

func locate(t *testing.T, file, text string, alerts ...alert) []finding {
	t.Helper()
	extracted, err := extract(fstest.MapFS{file: {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	names, err := extracted.write(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		names = extracted.native()
	}
	byName := map[string][]alert{}
	for name := range names {
		byName[name] = alerts
	}
	return append(located(byName, names), extracted.useless()...)
}

func TestAFindingHasTheLineOfItsSource(t *testing.T) {
	found := locate(t, "hack/x.sh", "x=0\n\n# One.\n\n# Two\n# lines.\nx=1\n", alert{Check: "A.B", Line: 4, Severity: "error"})
	want := []finding{{file: "hack/x.sh", line: 6, rule: "A.B", severity: "error"}}
	if !slices.Equal(want, found) {
		t.Errorf("got %+v, want %+v", found, want)
	}
}

func TestShortMessagesCountAsMessages(t *testing.T) {
	found := locate(t, "internal/x.go", "package x\n\nvar x = f(\"%s is gone\")\n", alert{Check: "A.B", Line: 1})
	if want := []finding{{file: "internal/x.go", line: 3, rule: "A.B"}}; !slices.Equal(want, found) {
		t.Errorf("got %+v, want %+v", found, want)
	}
}

func TestAnExceptionIsForItsCommentLineOrParagraph(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		line, want int
	}{
		"comment":                  {"hack/x.go", "package x\n\n// One.\n//" + exception + "A.B: a name.\nconst X = 1\n", 3, 0},
		"another rule":             {"hack/x.go", "package x\n\n// One.\n//" + exception + "A.C: a name.\nconst X = 1\n", 3, 2},
		"line":                     {"hack/x.go", "package x\n\nconst X = 1 // One.\nconst Y = 2 //" + exception + "A.B: a name.\n", 3, 2},
		"without a reason":         {"hack/x.go", "package x\n\n// One.\n//" + exception + "A.B\nconst X = 1\n", 3, 1},
		"YAML":                     {"config/x/x.yaml", "# " + exception + "A.B: a name.\n# One.\na: b\n", 2, 0},
		"paragraph":                {"x.md", "# X\n\n<!-- " + exception + "A.B: a name. -->\nOne\ntwo.\n", 5, 0},
		"next paragraph":           {"x.md", "<!-- " + exception + "A.B: a name. -->\nOne.\n\nTwo.\n", 4, 2},
		"code span in a paragraph": {"x.md", "Write `<!-- " + exception + "A.B: a name. -->`.\n", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			found := locate(t, c.file, c.text, alert{Check: "A.B", Line: c.line, Severity: "error"})
			if len(found) != c.want {
				t.Errorf("got %+v, want %d", found, c.want)
			}
		})
	}
}

func TestAnExceptionIsForOneFinding(t *testing.T) {
	alerts := []alert{{Check: "A.B", Line: 5, Message: "third"}, {Check: "A.B", Line: 3, Message: "first"}}
	found := locate(t, "hack/x.go", "package x\n\n// One.\n//"+exception+"A.B: a name.\n// Two.\nvar z = 1 // Three.\n", alerts...)
	if len(found) != 1 || found[0].message != "third" || found[0].line != 5 {
		t.Errorf("got %+v, want only the second finding", found)
	}
	found = locate(t, "x.md", "<!-- "+exception+"A.B: a name. -->\nOne\ntwo\nthree.\n", alert{Check: "A.B", Line: 2}, alert{Check: "A.B", Line: 4})
	if len(found) != 0 {
		t.Errorf("the paragraph has findings: %+v", found)
	}
}

func TestOnlyErrorsFail(t *testing.T) {
	var out strings.Builder
	warning := finding{file: "a.go", line: 7, rule: "A.B", severity: "warning", message: "M."}
	suggestion := finding{file: "b.go", line: 8, rule: "A.C", severity: "suggestion", message: "S."}
	if err := report(&out, []finding{warning, suggestion}, false); err != nil {
		t.Error(err)
	}
	if want := "a.go:7: warning: M. (A.B)\n0 errors, 1 warnings, 1 suggestions\n"; out.String() != want {
		t.Errorf("got %q", out.String())
	}
	warning.severity = "error"
	if err := report(&out, []finding{warning}, false); err == nil {
		t.Error("an error is no failure")
	}
}

func TestPathsSelectSources(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, c := range []struct {
		paths []string
		want  string
	}{
		{nil, "docs/a.md README.md"},
		{[]string{"docs/"}, "docs/a.md"},
		{[]string{filepath.Join(root, "docs")}, "docs/a.md"},
		{[]string{root}, "docs/a.md README.md"},
		{[]string{"doc"}, "PROSE names doc, which has no prose in this checkout"},
		{[]string{"docs", "nosuch"}, "PROSE names nosuch, which has no prose in this checkout"},
	} {
		all, err := sources{{file: "docs/a.md"}, {file: "README.md"}}.within(c.paths)
		var got []string
		for _, is := range all {
			got = append(got, is.file)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: got %v, want %s", c.paths, got, c.want)
		}
	}
}

func TestACheckoutThatDoesNotExistIsNamed(t *testing.T) {
	if _, err := check("", "nosuch", nil); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("got %v", err)
	}
}
