/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operator-framework/api/pkg/manifests"
	"sigs.k8s.io/yaml"
)

const bundleFolder = "../../bundle/manifests"

// printed runs a test as its pod does, and parses its output as the scorecard does.
func printed(t *testing.T, folder string, arguments ...string) (v1alpha3.TestResult, bool) {
	t.Helper()
	var out strings.Builder
	passed := run(t.Context(), arguments, folder, &out)
	var status v1alpha3.TestStatus
	if err := json.Unmarshal([]byte(out.String()), &status); err != nil || len(status.Results) != 1 {
		t.Fatalf("the scorecard cannot read this (%v):\n%s", err, out.String())
	}
	return status.Results[0], passed
}

func TestATestPrintsOneResult(t *testing.T) {
	tests["passes"] = onTheBundle(func(*manifests.Bundle) []string { return nil })
	tests["fails"] = onTheBundle(func(*manifests.Bundle) []string { return []string{"one", "two"} })
	defer delete(tests, "passes")
	defer delete(tests, "fails")
	if result, passed := printed(t, bundleFolder, "passes"); !passed || result.State != v1alpha3.PassState || result.Name != "passes" {
		t.Errorf("passed is %t, the result %+v", passed, result)
	}
	if result, passed := printed(t, bundleFolder, "fails"); passed || result.State != v1alpha3.FailState || !slices.Equal(result.Errors, []string{"one", "two"}) {
		t.Errorf("passed is %t, the result %+v", passed, result)
	}
}

func TestInvalidArgumentsFailWithAReason(t *testing.T) {
	t.Setenv("SCORECARD_NAMESPACE", "")
	for want, arguments := range map[string][]string{
		"name a test: backup-is-restored, ":                      {bundleFolder},
		`no test "other"; there are backup-is-restored, `:        {bundleFolder, "other"},
		"flag provided but not defined: -color":                  {bundleFolder, "related-images-are-complete", "--color"},
		"the bundle in /nowhere cannot be read":                  {"/nowhere", "related-images-are-complete"},
		"SCORECARD_NAMESPACE is not set: operator-sdk scorecard": {bundleFolder, "sample-becomes-available"},
	} {
		result, passed := printed(t, arguments[0], arguments[1:]...)
		if passed || len(result.Errors) != 1 || !strings.Contains(result.Errors[0], want) {
			t.Errorf("%q: passed is %t, the errors are %q, want %q", arguments, passed, result.Errors, want)
		}
	}
}

func TestTheConfigurationNamesEveryTestOnceAndNoOther(t *testing.T) {
	text, err := os.ReadFile("../../bundle/tests/scorecard/config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var config v1alpha3.Configuration
	if err := yaml.Unmarshal(text, &config); err != nil {
		t.Fatal(err)
	}
	var ours []string
	labels := map[string]int{}
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			labels[test.Labels["test"]]++
			if test.Entrypoint[0] == "scorecard" {
				ours = append(ours, test.Entrypoint[1])
			}
			if test.Labels["suite"] == "" || strings.HasSuffix(test.Image, ":latest") || !strings.Contains(test.Image, ":v") {
				t.Errorf("%q of suite %q has the image %q", test.Entrypoint, test.Labels["suite"], test.Image)
			}
		}
	}
	slices.Sort(ours)
	if want := slices.Sorted(maps.Keys(tests)); !slices.Equal(ours, want) {
		t.Errorf("the configuration has our tests %q, want %q", ours, want)
	}
	for name, count := range labels {
		if count != 1 {
			t.Errorf("%d tests have the label test=%s", count, name)
		}
	}
}
