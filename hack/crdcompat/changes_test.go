/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"
)

const said = `{
 "crdValidation": [{"name": "scope", "errors": ["scope changed"]}],
 "sameVersionValidation": [{"version": "v1alpha1", "propertyComparisons": [
  {"property": "^.spec.image", "comparisonResults": [{"name": "unhandled", "errors": ["a rule"]}, {"name": "enum", "warnings": ["one more"]}]}
 ]}],
 "servedVersionValidation": [{"version": "v1alpha1 -> v1", "propertyComparisons": [
  {"property": "^.spec.container.port", "comparisonResults": [{"name": "default", "errors": ["another"]}]}
 ]}]
}`

func TestEveryErrorOfCrdifyIsAChange(t *testing.T) {
	changes, err := read("a.yaml", []byte(said))
	if err != nil {
		t.Fatal(err)
	}
	want := []change{
		{"a.yaml", "", "scope", "scope changed"},
		{"a.yaml", "^.spec.image", "unhandled", "a rule"},
		{"a.yaml", "^.spec.container.port", "default", "another"},
	}
	if len(changes) != len(want) {
		t.Fatalf("got %v", changes)
	}
	for i := range want {
		if changes[i] != want[i] {
			t.Errorf("got %v, want %v", changes[i], want[i])
		}
	}
	if _, err := read("a.yaml", []byte("no answer")); err == nil {
		t.Error("invalid output passes")
	}
}

func TestAChangeIsAcceptedByNameAndWithAReasonOnly(t *testing.T) {
	made := change{"a.yaml", "^.spec.image", "unhandled", "a rule"}
	named := change{File: "a.yaml", Property: "^.spec.image", Check: "unhandled"}
	other := change{File: "a.yaml", Property: "^.spec.image", Check: "pattern"}
	for name, test := range map[string]struct {
		changes  []change
		accepted []acceptance
		says     string // nothing: it passes
	}{
		"nothing has changed":           {},
		"a change":                      {changes: []change{made}, says: "a.yaml ^.spec.image: unhandled: a rule"},
		"an accepted change":            {changes: []change{made}, accepted: []acceptance{{named, "It refused what was stored."}}},
		"an accepted one of two":        {changes: []change{made, other}, accepted: []acceptance{{named, "It refused what was stored."}}, says: "pattern"},
		"a reason that says nothing":    {changes: []change{made}, accepted: []acceptance{{named, "wanted"}}, says: "give the reason"},
		"an acceptance of another one":  {changes: []change{made}, accepted: []acceptance{{other, "It refused what was stored."}}, says: "unhandled: a rule"},
		"an acceptance that is not due": {accepted: []acceptance{{named, "It refused what was stored."}}, says: "remove the entry"},
	} {
		t.Run(name, func(t *testing.T) {
			err := verdict(test.changes, test.accepted)
			if (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

func TestARemovedCRDIsAChange(t *testing.T) {
	changes, err := compare("no such program", "a.yaml", t.TempDir()+"/a.yaml")
	if err != nil || len(changes) != 1 || changes[0].Check != "removed" {
		t.Errorf("got %v, %v", changes, err)
	}
}
