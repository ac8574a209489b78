/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const clusters = "../../config/crd/bases/database.dbcluster.io_databaseclusters.yaml"

func TestChangesThatCrdifyIgnoresAreFound(t *testing.T) {
	first := func(crd *definition) *apiextensionsv1.CustomResourceDefinitionVersion { return &crd.Spec.Versions[0] }
	for name, c := range map[string]struct {
		plant    func(*definition)
		property string // empty: not a breaking change
		changes  int
	}{
		"nothing":                      {func(*definition) {}, "", 0},
		"another column":               {func(crd *definition) { first(crd).AdditionalPrinterColumns = nil }, "", 0},
		"one more short name":          {func(crd *definition) { crd.Spec.Names.ShortNames = append(crd.Spec.Names.ShortNames, "other") }, "", 0},
		"another plural":               {func(crd *definition) { crd.Name = "others.database.dbcluster.io" }, "metadata.name", 1},
		"another kind":                 {func(crd *definition) { crd.Spec.Names.Kind = "Other" }, "spec.names.kind", 1},
		"a short name less":            {func(crd *definition) { crd.Spec.Names.ShortNames = nil }, "spec.names.shortNames", 1},
		"a version that is not served": {func(crd *definition) { first(crd).Served = false }, "spec.versions", 3},
		"no scale":                     {func(crd *definition) { first(crd).Subresources.Scale = nil }, "spec.versions", 1},
		"a scale of other fields":      {func(crd *definition) { first(crd).Subresources.Scale.StatusReplicasPath = ".status.readyReplicas" }, "spec.versions", 1},
		"no status":                    {func(crd *definition) { first(crd).Subresources.Status = nil }, "spec.versions", 1},
	} {
		t.Run(name, func(t *testing.T) {
			before, err := load[definition](clusters)
			if err != nil {
				t.Fatal(err)
			}
			after := before.DeepCopy()
			c.plant(after)
			found := surface("a.yaml", before, after)
			if len(found) != c.changes || c.changes > 0 && found[0].Property != c.property {
				t.Errorf("got %+v, want %d changes of %q", found, c.changes, c.property)
			}
		})
	}
}

func TestAFieldLessToSelectByIsAChange(t *testing.T) {
	after, err := load[definition](clusters)
	if err != nil {
		t.Fatal(err)
	}
	before := after.DeepCopy()
	before.Spec.Versions[0].SelectableFields = []apiextensionsv1.SelectableField{{JSONPath: ".spec.engine"}}
	if found := surface("a.yaml", before, after); len(found) != 1 || found[0].what != "v1alpha1 selectable by .spec.engine was removed" {
		t.Errorf("got %+v", found)
	}
}
