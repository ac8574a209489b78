/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// describe gives descriptors to the owned kinds that have none: operator-sdk makes them from markers in the types,
// and refuses a type without a status. They are the fields of the CRD, in its own words.
func describe(csv *unstructured.Unstructured, manifests string) error {
	owned, _, err := unstructured.NestedSlice(csv.Object, "spec", "customresourcedefinitions", "owned")
	if err != nil {
		return fmt.Errorf("read the owned kinds: %w", err)
	}
	for _, kind := range owned {
		kind, _ := kind.(map[string]any)
		if kind["specDescriptors"] != nil {
			continue
		}
		plural, group, _ := strings.Cut(fmt.Sprint(kind["name"]), ".")
		crd, err := read(filepath.Join(manifests, group+"_"+plural+".yaml"))
		if err != nil {
			return err
		}
		if kind["specDescriptors"], err = descriptors(crd); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(csv.Object, owned, "spec", "customresourcedefinitions", "owned")
}

// descriptors are the fields of the spec of a CRD's only version.
func descriptors(crd *unstructured.Unstructured) ([]any, error) {
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	if err != nil {
		return nil, fmt.Errorf("read the versions of the CRD %s: %w", crd.GetName(), err)
	}
	if len(versions) != 1 {
		return nil, fmt.Errorf("the CRD %s has %d versions: say here which one is described", crd.GetName(), len(versions))
	}
	version, _ := versions[0].(map[string]any)
	fields, _, err := unstructured.NestedMap(version, "schema", "openAPIV3Schema", "properties", "spec", "properties")
	if err != nil {
		return nil, fmt.Errorf("read the spec of the CRD %s: %w", crd.GetName(), err)
	}
	var all []any
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text, _, err := unstructured.NestedString(fields, name, "description")
		if err != nil {
			return nil, fmt.Errorf("read the field %s of the CRD %s: %w", name, crd.GetName(), err)
		}
		all = append(all, map[string]any{"path": name, "displayName": words(name), "description": text})
	}
	return all, nil
}

// words are those of a field's name, for people: "Secret Keys".
func words(name string) string {
	var text strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case unicode.IsUpper(r):
			text.WriteByte(' ')
		}
		text.WriteRune(r)
	}
	return text.String()
}
