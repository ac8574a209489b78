//go:build prose

/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/yaml"
)

// TestEachRuleFindsItsExamplesAndNoOthers needs Vale, whose path is in DBC_VALE.
func TestEachRuleFindsItsExamplesAndNoOthers(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("hack/prose/testdata/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var examples map[string]struct{ Bad, Good []string }
	if err := yaml.UnmarshalStrict(text, &examples); err != nil {
		t.Fatal(err)
	}
	folder, wanted := t.TempDir(), map[string]bool{}
	for rule, of := range examples {
		for kind, sentences := range map[string][]string{"bad": of.Bad, "good": of.Good} {
			for i, sentence := range sentences {
				name := fmt.Sprintf("%s-%s-%d.docs.txt", rule, kind, i)
				wanted[name] = kind == "bad"
				if err := os.WriteFile(filepath.Join(folder, name), []byte(sentence+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	alerts, err := judge(os.Getenv("DBC_VALE"), folder, ".")
	if err != nil {
		t.Fatal(err)
	}
	for rule := range examples {
		for name, want := range wanted {
			if ok, _ := filepath.Match(rule+"-*", name); ok && found(alerts[name], rule) != want {
				t.Errorf("%s: found %v, want %v", name, !want, want)
			}
		}
	}
}

// TestSentencesEndWithTheirParagraph reads messages without a period.
func TestSentencesEndWithTheirParagraph(t *testing.T) {
	t.Chdir("../..")
	const ten = "one two three four five six seven eight nine %s"
	for text, want := range map[string]string{
		"a() + b(`the operator holds`, `the pod now`)":                                         "",
		"`" + ten + " the key is in spec.backup`, `" + ten + " one two three`, `" + ten + "`":  "",
		"`" + ten + " one two three four`+name, `" + ten + "`, `" + ten + " without '..'`, ``": "",
		"`" + ten + " one two three four five six, " + ten + "`":                               "Style.LongSentence",
	} {
		extracted, err := extract(fstest.MapFS{"internal/x/x.go": {Data: []byte("package x\n\nvar x = f(" + text + ")\n")}})
		if err != nil {
			t.Fatal(err)
		}
		folder := t.TempDir()
		if _, err := extracted.write(folder); err != nil {
			t.Fatal(err)
		}
		alerts, err := judge(os.Getenv("DBC_VALE"), folder, ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, those := range alerts {
			for _, a := range those {
				if a.Check != want {
					t.Errorf("%s: %+v", text, a)
				}
			}
		}
		if want != "" && len(alerts) == 0 {
			t.Errorf("%s: no %s", text, want)
		}
	}
}

func TestEachRuleOfWordsHasExamples(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile("hack/prose/testdata/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var examples map[string]any
	if err := yaml.Unmarshal(text, &examples); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("hack/prose/styles/Words/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if rule := "Words." + strings.TrimSuffix(filepath.Base(file), ".yml"); examples[rule] == nil {
			t.Errorf("%s has no examples in testdata/rules.yaml", rule)
		}
	}
}

const commented = `package v1alpha1

// wait is a name. The cluster has converged, but not settled.
//
//	settled code is skipped
//
//   - the item has settled
//
//nolint:all // settled
//go:embed settled
func wait() {} // It has settled.

// Spec has a type.
// +kubebuilder:validation:XValidation:rule="settled"
type Spec struct {
	// one two three four five six seven eight nine ten one two three four five six seven eight nine ten one two three four five six.
	One string
	//told: by a comment
	Two string // What the operator has is deleted.
	// It runs ` + "`settled`" + ` code.
	Three string
}
`

// TestCommentsInGoAreRead reads the file as Vale does: without directives, markers and code.
func TestCommentsInGoAreRead(t *testing.T) {
	t.Chdir("../..")
	for file, want := range map[string]string{
		"internal/x.go": "3 Words.Settle, 7 Words.Settle, 11 Words.Settle, 18 Words.Tell, 19 Style.StartsWhat",
		"api/v1/x.go":   "3 Words.Settle, 7 Words.Settle, 11 Words.Settle, 16 Style.LongSentence, 18 Words.Tell, 19 Style.StartsWhat",
	} {
		folder := t.TempDir()
		if err := writeFile(filepath.Join(folder, file), []byte(commented)); err != nil {
			t.Fatal(err)
		}
		alerts, err := judge(os.Getenv("DBC_VALE"), folder, file)
		if err != nil {
			t.Fatal(err)
		}
		found := alerts[file]
		slices.SortFunc(found, func(a, b alert) int { return a.Line - b.Line })
		var got []string
		for _, a := range found {
			got = append(got, fmt.Sprintf("%d %s", a.Line, a.Check))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %s, want %s", file, strings.Join(got, ", "), want)
		}
	}
}

func found(alerts []alert, rule string) bool {
	for _, a := range alerts {
		if a.Check == rule {
			return true
		}
	}
	return false
}
