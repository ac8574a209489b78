/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestFieldsWithoutAMarkerAreDescribedInTheWordsOfTheCRD(t *testing.T) {
	marked := map[string]any{"path": "storage.size", "displayName": "How much"}
	csv := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"customresourcedefinitions": map[string]any{"owned": []any{map[string]any{
			"kind": "DatabaseCluster", "name": "databaseclusters.database.dbcluster.io", "specDescriptors": []any{marked},
		}}},
	}}}
	if err := describe(csv, "../../config/crd/bases"); err != nil {
		t.Fatal(err)
	}
	owned, _, _ := unstructured.NestedSlice(csv.Object, "spec", "customresourcedefinitions", "owned")
	descriptors := owned[0].(map[string]any)["specDescriptors"].([]any)
	for path, want := range map[string][2]string{
		"updateStrategy.maxUnavailable": {"Max Unavailable", "maxUnavailable is "},
		"backup.schedules[0].schedule":  {"Schedule", "schedule is "},
		"pod.sidecars[0].image":         {"Image", "image is "},
		"storage.size":                  {"How much", ""},
	} {
		at := slices.IndexFunc(descriptors, func(d any) bool { return pathOf(d) == path })
		if at < 0 {
			t.Errorf("%s is not described", path)
			continue
		}
		text, _ := descriptors[at].(map[string]any)["description"].(string)
		if title := descriptors[at].(map[string]any)["displayName"]; title != want[0] || !strings.HasPrefix(text, want[1]) {
			t.Errorf("%s is called %q and described as %q, want %q", path, title, text, want)
		}
	}
}
