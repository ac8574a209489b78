/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/test/bundle/checks"
)

// describe adds descriptors of the nested fields of spec and status, with the descriptions of the CRDs. operator-sdk
// adds them only with a marker that repeats the path of the field.
func describe(csv *unstructured.Unstructured, manifests string) error {
	owned, _, err := unstructured.NestedSlice(csv.Object, "spec", "customresourcedefinitions", "owned")
	if err != nil {
		return fmt.Errorf("read the owned kinds: %w", err)
	}
	for _, kind := range owned {
		kind, _ := kind.(map[string]any)
		plural, group, _ := strings.Cut(fmt.Sprint(kind["name"]), ".")
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := read(filepath.Join(manifests, group+"_"+plural+".yaml"), crd); err != nil {
			return err
		}
		for _, part := range []string{"spec", "status"} {
			if err := describePart(kind, part, crd); err != nil {
				return fmt.Errorf("describe the %s of %s: %w", part, kind["kind"], err)
			}
		}
	}
	return unstructured.SetNestedSlice(csv.Object, owned, "spec", "customresourcedefinitions", "owned")
}

func describePart(kind map[string]any, part string, crd *apiextensionsv1.CustomResourceDefinition) error {
	schema, err := schemaOf(crd, part)
	if err != nil {
		return err
	}
	all, _ := kind[part+"Descriptors"].([]any)
	for _, path := range checks.Fields(fmt.Sprint(kind["kind"]), part) {
		if slices.ContainsFunc(all, func(d any) bool { return pathOf(d) == path }) {
			continue
		}
		text, err := description(schema, path)
		if err != nil {
			return err
		}
		all = append(all, map[string]any{"path": path, "displayName": displayName(path), "description": text})
	}
	slices.SortFunc(all, func(a, b any) int { return cmp.Compare(pathOf(a), pathOf(b)) })
	kind[part+"Descriptors"] = all
	return nil
}

func pathOf(descriptor any) string {
	is, _ := descriptor.(map[string]any)
	return fmt.Sprint(is["path"])
}

func schemaOf(crd *apiextensionsv1.CustomResourceDefinition, part string) (*apiextensionsv1.JSONSchemaProps, error) {
	if len(crd.Spec.Versions) != 1 {
		return nil, fmt.Errorf("the CRD %s has %d versions: say here which one is described", crd.Name, len(crd.Spec.Versions))
	}
	schema, found := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties[part]
	if !found {
		return nil, fmt.Errorf("the CRD %s has no %s", crd.Name, part)
	}
	return &schema, nil
}

// description returns the description of the field at a path of a schema.
func description(schema *apiextensionsv1.JSONSchemaProps, path string) (string, error) {
	for step := range strings.SplitSeq(path, ".") {
		name, _, item := strings.Cut(step, "[")
		field, found := schema.Properties[name]
		if !found {
			return "", fmt.Errorf("the CRD does not know %s of the field %s", name, path)
		}
		schema = &field
		if item && field.Items == nil {
			return "", fmt.Errorf("the CRD knows %s of the field %s as no array", name, path)
		}
		if item {
			schema = field.Items.Schema
		}
	}
	return schema.Description, nil
}

var capital = regexp.MustCompile(`\B[A-Z]`)

// displayName returns the name of a field as a title: Max Unavailable.
func displayName(path string) string {
	name := capital.ReplaceAllString(path[strings.LastIndex(path, ".")+1:], " $0")
	return strings.ToUpper(name[:1]) + name[1:]
}
