/*
SPDX-License-Identifier: Apache-2.0
*/

// Package checks finds problems in a bundle, one sentence each. Its functions need no cluster. The tests of the bundle
// and the scorecard use them.
package checks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Descriptors returns the fields of spec and status without a descriptor, in all CRDs that the CSV owns, and the
// descriptors without a field.
func Descriptors(bundle *manifests.Bundle) []string {
	var problems []string
	owned := map[string]bool{}
	for _, description := range bundle.CSV.Spec.CustomResourceDefinitions.Owned {
		owned[description.Name] = true
		if kinds[description.Kind] == nil {
			problems = append(problems, fmt.Sprintf("the CSV owns a %s, and api/v1alpha1 registers no such type", description.Kind))
		}
		schema := schemaOf(bundle, description)
		if schema == nil {
			problems = append(problems, fmt.Sprintf("the CSV owns %s %s, and the bundle has no such CRD", description.Name, description.Version))
			continue
		}
		paths := pathsOf(description)
		for _, part := range []string{"spec", "status"} {
			problems = append(problems, descriptorsOf(description.Kind, part, schema, paths[part])...)
		}
	}
	for _, crd := range bundle.V1CRDs {
		if !owned[crd.Name] {
			problems = append(problems, fmt.Sprintf("the bundle has the CRD %s, and the CSV does not own it", crd.Name))
		}
	}
	return problems
}

func schemaOf(bundle *manifests.Bundle, description v1alpha1.CRDDescription) *apiextensionsv1.JSONSchemaProps {
	for _, crd := range bundle.V1CRDs {
		for _, version := range crd.Spec.Versions {
			if crd.Name == description.Name && version.Name == description.Version && version.Schema != nil {
				return version.Schema.OpenAPIV3Schema
			}
		}
	}
	return nil
}

// pathsOf returns the paths of the descriptors of each part.
func pathsOf(description v1alpha1.CRDDescription) map[string][]string {
	paths := map[string][]string{}
	for _, descriptor := range description.SpecDescriptors {
		paths["spec"] = append(paths["spec"], descriptor.Path)
	}
	for _, descriptor := range description.StatusDescriptors {
		paths["status"] = append(paths["status"], descriptor.Path)
	}
	return paths
}

func descriptorsOf(kind, part string, root *apiextensionsv1.JSONSchemaProps, paths []string) []string {
	var problems []string
	schema, where := root.Properties[part], kind+" "+part
	fields := append(slices.Collect(maps.Keys(schema.Properties)), Fields(kind, part)...)
	slices.Sort(fields)
	for _, field := range slices.Compact(fields) {
		if !slices.Contains(paths, field) {
			problems = append(problems, fmt.Sprintf("%s.%s has no descriptor in the CSV", where, field))
		}
	}
	for i, path := range paths {
		if !has(schema, strings.Split(path, ".")) {
			problems = append(problems, fmt.Sprintf("%s.%s has a descriptor in the CSV, and the CRD has no such field", where, path))
		}
		if slices.Contains(paths[:i], path) {
			problems = append(problems, fmt.Sprintf("%s.%s has more than one descriptor in the CSV", where, path))
		}
	}
	return problems
}

// has reports whether a schema has a path of fields. A field of a list is written as name or name[0].
func has(schema apiextensionsv1.JSONSchemaProps, path []string) bool {
	if len(path) == 0 {
		return true
	}
	name, _, _ := strings.Cut(path[0], "[")
	if field, known := schema.Properties[name]; known {
		if field.Items != nil && field.Items.Schema != nil {
			field = *field.Items.Schema
		}
		return has(field, path[1:])
	}
	// Users choose the keys of a map.
	if values := schema.AdditionalProperties; values != nil && values.Schema != nil {
		return has(*values.Schema, path[1:])
	}
	return false
}
