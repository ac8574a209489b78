/*
SPDX-License-Identifier: Apache-2.0
*/

// Package admission contains the admission policies that deny the deletion of protected objects, and those that restrict
// the writes of members. The operator creates missing policies, because an OLM bundle cannot contain them.
package admission

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

// prefix is the name prefix of config/default.
const prefix = "databasecluster-operator-"

// protection begins the names of the policies that deny deletions.
const protection = prefix + "protected-"

// members begins the names of the policies that restrict the writes of members.
const members = prefix + "member-"

//go:embed policies.yaml member-writes.yaml
var files embed.FS

// Objects returns the policies, each followed by its binding of the same name.
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

// Members returns the policies that restrict the writes of members, and their bindings.
func Members() ([]*unstructured.Unstructured, error) {
	all, err := Objects()
	return slices.DeleteFunc(all, func(o *unstructured.Unstructured) bool { return !strings.HasPrefix(o.GetName(), members) }), err
}

// Protection returns the names of the policies that deny deletions, which are also the names of their bindings.
func Protection() ([]string, error) {
	all, err := Objects()
	var names []string
	for _, object := range all {
		if object.GetKind() == "ValidatingAdmissionPolicy" && strings.HasPrefix(object.GetName(), protection) {
			names = append(names, object.GetName())
		}
	}
	return names, err
}
