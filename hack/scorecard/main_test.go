/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const config = `
stages:
- tests:
  - {image: one, labels: {suite: olm, test: first}}
- tests:
  - {image: two, labels: {suite: bundle, test: second}}
`

const (
	first  = `{"spec": {"labels": {"suite": "olm", "test": "first"}}, "status": {"results": [{"state": "pass"}]}}`
	second = `{"spec": {"labels": {"suite": "bundle", "test": "second"}}, "status": {"results": [{"state": "pass"}]}}`
)

func judged(t *testing.T, results string) (table string, err error) {
	t.Helper()
	folder, out := t.TempDir(), &strings.Builder{}
	for name, text := range map[string]string{"config": config, "results": results} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err = run(filepath.Join(folder, "config"), filepath.Join(folder, "results"), out)
	return out.String(), err
}

func TestAScorecardPassesWhenAllTestsPassWithoutARemark(t *testing.T) {
	table, err := judged(t, `{"items": [`+second+`,`+first+`]}`)
	if err != nil || !strings.Contains(table, "olm     first   pass\nbundle  second  pass\n") {
		t.Errorf("the error is %v after\n%s", err, table)
	}
}

func TestAScorecardFailsForAnythingLess(t *testing.T) {
	result := func(text string) string {
		return `{"items": [` + first + `,` + strings.Replace(second, `{"state": "pass"}`, text, 1) + `]}`
	}
	for results, want := range map[string]string{
		result(`{"state": "fail", "errors": ["it is broken"]}`):        "it is broken",
		result(`{"state": "error"}`):                                   "it is not passed",
		result(`{"state": "error", "log": "panic"}`):                   "it is not passed; panic",
		result(`{"state": "pass", "suggestions": ["do better"]}`):      "do better",
		result(`{"state": "pass", "errors": ["strange"]}`):             "strange",
		result(`{"state": "pass"}, {"state": "fail"}`):                 "it is not passed",
		result(`{"state": "fail", "errors": ["e"], "log": "no JSON"}`): "no JSON",
		result(``):                   "it has no result",
		`{"items": [` + first + `]}`: "it did not run",
		`{"items": [` + first + "," + first + "," + second + `]}`: "the configuration has no such test",
		`{"items": []}`: "it did not run",
	} {
		table, err := judged(t, results)
		if err == nil || !strings.Contains(table, want) {
			t.Errorf("%s: the error is %v after\n%s, want %q", results, err, table, want)
		}
	}
}

func TestResultsThatAreNoneAreAnError(t *testing.T) {
	for results, want := range map[string]string{"": "is empty", "error running tests": "read "} {
		if _, err := judged(t, results); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: the error is %v, want %q", results, err, want)
		}
	}
}
