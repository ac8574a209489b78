/*
SPDX-License-Identifier: Apache-2.0
*/

// Package crd is the table of the API kinds: the CRDs that controller-gen generates from the types in api/v1alpha1. hack/kinds and the
// tests of every kind read it, so a new kind is on no other list.
package crd

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

//go:embed bases/*.yaml
var files embed.FS

// Definitions returns the CRDs, in the order of their names.
func Definitions() ([]apiextensionsv1.CustomResourceDefinition, error) {
	names, err := fs.Glob(files, "bases/*.yaml")
	if err != nil {
		return nil, err
	}
	all := make([]apiextensionsv1.CustomResourceDefinition, len(names))
	for i, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, &all[i]); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return all, nil
}
