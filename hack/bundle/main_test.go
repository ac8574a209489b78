/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestAVerdictPassesOnlyWhenNothingAtAllWasFound(t *testing.T) {
	for said, want := range map[string]string{
		`{"passed": true, "outputs": null}`:                                               "",
		`{"passed": true, "outputs": [{"type": "warning", "message": "no icon"}]}`:        "warning: no icon",
		`{"passed": true, "outputs": [{"type": "note", "message": "of a kind to come"}]}`: "note: of a kind",
		`{"passed": false, "outputs": [{"type": "error", "message": "no version"}]}`:      "error: no version",
		`{"passed": false}`: "does not say that the bundle passed",
		`{}`:                "does not say that the bundle passed",
		``:                  "is not a verdict",
		`panic: oh`:         "is not a verdict",
	} {
		var printed strings.Builder
		err := run([]string{"judge"}, strings.NewReader(said), &printed)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("of %s it says %v, want %q", said, err, want)
		}
		if !strings.Contains(printed.String(), said) {
			t.Errorf("it printed %q, want %q", printed.String(), said)
		}
	}
}

func csvOf(version, created string) *unstructured.Unstructured {
	csv := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"version": version}}}
	if created != "" {
		annotate(csv, "createdAt", created)
	}
	return csv
}

func TestACSVIsCompletedWithWhatIsKnownElsewhere(t *testing.T) {
	csv := csvOf("0.2.0", "")
	if err := complete(csv, "<svg/>", "0.1.0 9890bd7fc82a\n", "example.org/operator@sha256:1"); err != nil {
		t.Fatal(err)
	}
	if is := csv.GetAnnotations()["olm.skipRange"]; is != ">=0.1.0 <0.2.0" {
		t.Errorf("olm.skipRange is %q", is)
	}
	spec := csv.Object["spec"].(map[string]any)
	if spec["replaces"] != "databasecluster-operator.v0.1.0" {
		t.Errorf("spec.replaces is %q", spec["replaces"])
	}
	icon := spec["icon"].([]any)[0].(map[string]any)
	if svg, err := base64.StdEncoding.DecodeString(icon["base64data"].(string)); err != nil || string(svg) != "<svg/>" {
		t.Errorf("the icon is %q: %v", svg, err)
	}
	if image := spec["relatedImages"].([]any)[0].(map[string]any); image["image"] != "example.org/operator@sha256:1" || image["name"] == "" {
		t.Errorf("the related image is %v", image)
	}
}

func TestAReleaseCannotReplaceItself(t *testing.T) {
	for _, release := range []string{"0.2.0 9890bd7fc82a", "0.1.0", ""} {
		if err := complete(csvOf("0.2.0", ""), "", release, ""); err == nil || !strings.Contains(err.Error(), "before 0.2.0") {
			t.Errorf("of %q it says %v", release, err)
		}
	}
}

func TestABundleIsCreatedOnceAVersion(t *testing.T) {
	now := time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC)
	for name, c := range map[string]struct {
		before *unstructured.Unstructured
		want   string
	}{
		"made again":                   {csvOf("0.2.0", "2026-01-01T00:00:00Z"), "2026-01-01T00:00:00Z"},
		"the first of its version":     {csvOf("0.1.0", "2026-01-01T00:00:00Z"), "2026-02-03T04:05:06Z"},
		"the first of all":             {&unstructured.Unstructured{}, "2026-02-03T04:05:06Z"},
		"made again, without a moment": {csvOf("0.2.0", ""), "2026-02-03T04:05:06Z"},
	} {
		if at := createdAt(c.before, csvOf("0.2.0", ""), now); at != c.want {
			t.Errorf("%s: createdAt is %s, want %s", name, at, c.want)
		}
	}
}
