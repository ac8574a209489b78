/*
SPDX-License-Identifier: Apache-2.0
*/

// Package admission holds the policies by which the API server refuses to delete what is protected, for the
// operator that finds them missing: a bundle of OLM cannot carry them.
package admission

import (
	"embed"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

// prefix is what config/default puts before the names, too.
const prefix = "databasecluster-operator-"

//go:embed policies.yaml
var files embed.FS

// Objects are the policies, each followed by the binding of the same name that puts it in force.
func Objects() ([]*unstructured.Unstructured, error) {
	all, err := embedded.Objects(files)
	if err != nil {
		return nil, err
	}
	for _, object := range all {
		object.SetName(prefix + object.GetName())
		if name, bound, _ := unstructured.NestedString(object.Object, "spec", "policyName"); bound {
			if err := unstructured.SetNestedField(object.Object, prefix+name, "spec", "policyName"); err != nil {
				return nil, fmt.Errorf("name the policy of %s: %w", object.GetName(), err)
			}
		}
	}
	return all, nil
}

// Names are the names of the policies, which their bindings bear, too.
func Names() ([]string, error) {
	all, err := Objects()
	var names []string
	for _, object := range all {
		if object.GetKind() == "ValidatingAdmissionPolicy" {
			names = append(names, object.GetName())
		}
	}
	return names, err
}
