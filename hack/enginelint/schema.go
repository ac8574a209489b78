/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	apiVersion = "database.dbcluster.io/v1alpha1"
	// budget is more than the rules of the CRD cost. The API server has a similar limit.
	budget = 100_000_000
	// root begins the paths of rules, which need one.
	root = "root"
)

// schema validates objects as the API server does.
type schema struct {
	structural *structuralschema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

func newSchema(file string) (*schema, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the CRD (run this in the root of the checkout): %w", err)
	}
	stored := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, stored); err != nil {
		return nil, err
	}
	props := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(stored.Spec.Versions[0].Schema.OpenAPIV3Schema,
		props, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	values, _, err := validation.NewSchemaValidator(props)
	return &schema{structural, values, cel.NewValidator(structural, true, budget)}, err
}

// decode reads a DatabaseEngine with the defaults of the CRD; nil for another object, or one that the API server refuses.
func (s *schema) decode(document []byte) (*dbv1.DatabaseEngine, []finding) {
	var object map[string]any
	text, err := yaml.YAMLToJSONStrict(document)
	if err == nil {
		err = json.Unmarshal(text, &object)
	}
	if err != nil {
		return nil, []finding{errorf("%v: correct the YAML", err)}
	}
	if object["kind"] != "DatabaseEngine" {
		return nil, nil
	}
	if object["apiVersion"] != apiVersion {
		return nil, []finding{errorf("apiVersion is %v: set it to %s", object["apiVersion"], apiVersion)}
	}
	if findings := s.refusals(object); len(findings) > 0 {
		return nil, findings
	}
	declared := &dbv1.DatabaseEngine{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, declared); err != nil {
		return nil, []finding{errorf("%v", err)}
	}
	if problems := apivalidation.NameIsDNSSubdomain(declared.Name, false); len(problems) > 0 {
		return nil, []finding{errorf("metadata.name is %q: %s", declared.Name, problems[0])}
	}
	return declared, nil
}

// refusals are the mistakes that the API server reports. It drops unknown fields, so a misspelled one would have no effect.
func (s *schema) refusals(object map[string]any) (all []finding) {
	unknown := pruning.PruneWithOptions(object, s.structural, true, structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range unknown {
		all = append(all, errorf("%s is not a field of a DatabaseEngine: correct its name or its place; docs/api.md lists all fields", path))
	}
	defaulting.Default(object, s.structural)
	problems := validation.ValidateCustomResource(nil, object, s.values)
	problems = append(problems, listtype.ValidateListSetsAndMaps(nil, s.structural, object)...)
	if len(problems) == 0 {
		fromRules, _ := s.rules.Validate(context.Background(), field.NewPath(root), s.structural, object, nil, budget)
		problems = append(problems, fromRules...)
	}
	for _, problem := range problems {
		all = append(all, errorf("%s", strings.TrimPrefix(problem.Error(), root+".")))
	}
	return all
}
