/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

type definition = apiextensionsv1.CustomResourceDefinition

// surface finds breaking changes outside the schemas, which crdify ignores: names of the kind, served versions, and the
// features of each version.
func surface(file string, before, after *definition) []change {
	var all []change
	add := func(property, check, was, is string) {
		if was != is {
			all = append(all, change{file, property, check, fmt.Sprintf("it was %q and is %q", was, is)})
		}
	}
	add("metadata.name", "name", before.Name, after.Name)
	add("spec.names.kind", "name", before.Spec.Names.Kind, after.Spec.Names.Kind)
	add("spec.names.listKind", "name", before.Spec.Names.ListKind, after.Spec.Names.ListKind)
	for _, list := range []struct {
		property   string
		was, there []string
	}{
		{"spec.names.shortNames", before.Spec.Names.ShortNames, after.Spec.Names.ShortNames},
		{"spec.names.categories", before.Spec.Names.Categories, after.Spec.Names.Categories},
		{"spec.versions", offers(before), offers(after)},
	} {
		for _, one := range list.was {
			if !slices.Contains(list.there, one) {
				all = append(all, change{file, list.property, "offered", one + " was removed"})
			}
		}
	}
	return all
}

// offers returns the features of each served version that clients can use.
func offers(crd *definition) []string {
	var all []string
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		all = append(all, version.Name)
		for _, field := range version.SelectableFields {
			all = append(all, version.Name+" selectable by "+field.JSONPath)
		}
		if version.Subresources == nil {
			continue
		}
		if version.Subresources.Status != nil {
			all = append(all, version.Name+"/status")
		}
		if scale := version.Subresources.Scale; scale != nil {
			all = append(all, fmt.Sprintf("%s/scale of %s, %s and %s",
				version.Name, scale.SpecReplicasPath, scale.StatusReplicasPath, ptr.Deref(scale.LabelSelectorPath, "")))
		}
	}
	return all
}
