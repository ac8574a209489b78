/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func TestTheDescriptionOfThisOperatorIsComplete(t *testing.T) {
	d, err := readDescription("operator.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(d.Binary) || !filepath.IsAbs(d.Manifests[0]) {
		t.Errorf("paths are not relative to the file: %s, %s", d.Binary, d.Manifests[0])
	}
	for _, p := range phases {
		if !p.possible(d) {
			t.Errorf("the phase %s is not possible", p.name)
		}
	}
	for _, text := range []string{d.Resource, d.Rollout, d.Scale, d.Drift.Patch} {
		if _, err := (values{inName: "a", inNamespace: "b", inReplicas: members, inRevision: "c"}).object(text); err != nil {
			t.Error(err)
		}
	}
}

func TestAWrongDescriptionIsRejectedWithTheReason(t *testing.T) {
	const rest = "binary: manager\nready: Ready\n"
	const right = "name: other\nresource: '{apiVersion: v1, kind: A}'\n" + rest
	for text, want := range map[string]string{
		right:                            "",
		right + "scale: '{}'":            "label is missing",
		right + "arguments: ['${NAME}']": "${NAME} in \"${NAME}\" is not known",
		right + "environment: {A: '${REPLICAS}'}":                             "${REPLICAS}",
		right + "rollout: '${METRICS}'\nlabel: a":                             "${METRICS}",
		right + "download: everything":                                        "unknown field",
		"name: other":                                                         "is missing",
		right + "manifests: [absent.yaml]":                                    "absent.yaml: no such file",
		right + "account: manager":                                            "want NAMESPACE/NAME",
		right + "rollout: '{a: [}'\nlabel: a":                                 "rollout: parse",
		right + "drift: {kind: Service}":                                      "drift.apiVersion is missing",
		right + "drift: {apiVersion: v1, kind: A, name: '${A}', patch: '{}'}": "${A}",
		"name: My_Op 1\nresource: '{apiVersion: v1, kind: A}'\n" + rest:       "name is \"My_Op 1\"",
		"name: other\nresource: '{apiVersion: v1}'\n" + rest:                  "resource has no kind",
		"name: other\nresource: '{['\n" + rest:                                "resource: parse",
	} {
		path := filepath.Join(t.TempDir(), "operator.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := readDescription(path)
		if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestAllOperatorsAreCheckedBeforeOneStarts(t *testing.T) {
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "operator.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const rest = "\nresource: '{apiVersion: v1, kind: A}'\nready: Ready\n"
	right := file("name: other\nbinary: /bin/sh" + rest)
	if all, err := describe([]string{right}); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	for want, paths := range map[string][]string{
		"binary is":            {right, file("name: third\nbinary: /no/such/program" + rest)},
		`name is "other"`:      {right, right},
		`name is "floor"`:      {file("name: floor\nbinary: /bin/sh" + rest)},
		"no such file or dire": {filepath.Join(t.TempDir(), "absent.yaml")},
	} {
		if _, err := describe(paths); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestADriftEndsWhenTheObjectNoLongerContainsTheChange(t *testing.T) {
	for _, c := range []struct {
		object, patch string
		want          bool
	}{
		{"{spec: {a: 1, b: 2}}", "{spec: {a: 1}}", true},
		{"{spec: {a: 3, b: 2}}", "{spec: {a: 1}}", false},
		{"{spec: 1}", "{spec: {a: 1}}", false},
		{"{}", "{spec: {a: 1}}", false},
		{"{a: [x]}", "{a: [x]}", true},
		{"{a: [x, y]}", "{a: [x]}", false},
	} {
		if got := contains(parsed(t, c.object), parsed(t, c.patch)); got != c.want {
			t.Errorf("%s contains %s: %v", c.object, c.patch, got)
		}
	}
}

func parsed(t *testing.T, text string) any {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

func TestAConditionCountsOnlyForTheCurrentGeneration(t *testing.T) {
	for text, want := range map[string]bool{
		"{status: {conditions: [{type: Ready, status: 'True'}]}}":  true,
		"{status: {conditions: [{type: Other, status: 'True'}]}}":  false,
		"{status: {conditions: [{type: Ready, status: 'False'}]}}": false,
		"{status: {conditions: [{type: Ready, status: Unknown}]}}": false,
		"{status: {}}": false,
		"{}":           false,
	} {
		object, ok := parsed(t, text).(map[string]any)
		if got := isTrue(&unstructured.Unstructured{Object: object}, "Ready"); got != want || !ok {
			t.Errorf("%s: %v", text, got)
		}
	}
	for generation, want := range map[int64]bool{3: false, 4: true} {
		object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Ready", "status": "True", "observedGeneration": generation},
		}}}}
		object.SetGeneration(4)
		if got := isTrue(object, "Ready"); got != want {
			t.Errorf("generation %d of 4: %v", generation, got)
		}
	}
}
