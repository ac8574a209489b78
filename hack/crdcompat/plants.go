/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type (
	version = apiextensionsv1.CustomResourceDefinitionVersion
	schema  = apiextensionsv1.JSONSchemaProps
)

// plants are breaking changes, by the check that must find each.
var plants = []struct {
	check string
	plant func(*version)
}{
	{"storedVersionRemoval", func(of *version) { of.Name = "v2" }},
	{"existingFieldRemoval", spec(func(spec *schema) { delete(spec.Properties, "paused") })},
	{"required", spec(func(spec *schema) { spec.Required = append(spec.Required, "engine") })},
	{"enum", in("container", below("imagePullPolicy", func(field *schema) { field.Enum = field.Enum[1:] }))},
	{"enum", in("engine", func(field *schema) { field.Enum = []apiextensionsv1.JSON{{Raw: []byte(`"postgresql-single-v1"`)}} })},
	{"default", in("service", func(field *schema) { field.Default = nil })},
	{"default", in("container", below("port", func(field *schema) { field.Default = &apiextensionsv1.JSON{Raw: []byte("9000")} }))},
	{"type", in("paused", func(field *schema) { field.Type = "string" })},
	{"maximum", in("replicas", func(field *schema) { *field.Maximum-- })},
	{"minLength", in("image", func(field *schema) { *field.MinLength++ })},
	{"pattern", in("engine", func(field *schema) { field.Pattern = "^[a-z]+$" })},
	{"unhandled", in("image", func(field *schema) { field.XValidations = []apiextensionsv1.ValidationRule{{Rule: "self == oldSelf"}} })},
}

// spec changes the schema of the spec.
func spec(change func(*schema)) func(*version) {
	return func(of *version) {
		all := of.Schema.OpenAPIV3Schema.Properties
		spec := all["spec"]
		change(&spec)
		all["spec"] = spec
	}
}

// in changes a field of the spec.
func in(name string, change func(*schema)) func(*version) { return spec(below(name, change)) }

// below changes a field of an object.
func below(name string, change func(*schema)) func(*schema) {
	return func(object *schema) {
		field := object.Properties[name]
		change(&field)
		object.Properties[name] = field
	}
}

// findsPlants applies each plant to the CRD of DatabaseClusters. The check must find each.
func findsPlants(crdify string, files []string, scratch string) error {
	at := slices.IndexFunc(files, func(file string) bool { return strings.HasSuffix(file, "_databaseclusters.yaml") })
	if at < 0 {
		return fmt.Errorf("there is no CRD of DatabaseClusters among %s", files)
	}
	changed := filepath.Join(scratch, "planted.yaml")
	for i, p := range plants {
		crd, err := load[definition](files[at])
		if err != nil {
			return err
		}
		p.plant(&crd.Spec.Versions[0])
		if err := write(changed, crd); err != nil {
			return err
		}
		found, err := ask(crdify, files[at], changed)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(found, func(c change) bool { return c.Check == p.check }) {
			return fmt.Errorf("crdify finds %v in planted change %d, which breaks by %s: the check is blind, see %scrdify.yaml", found, i, p.check,
				folder)
		}
	}
	return nil
}
