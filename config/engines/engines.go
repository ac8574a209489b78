/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engines holds the DatabaseEngines that come with the operator, one file each.
package engines

import (
	"embed"
	"fmt"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

//go:embed *.yaml
var files embed.FS

// Objects are the DatabaseEngines.
func Objects() ([]*unstructured.Unstructured, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	all := make([]*unstructured.Unstructured, 0, len(names))
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, object); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		all = append(all, object)
	}
	return all, nil
}
