/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// describedValues returns an error if a value of the chart has no comment: values.yaml is its reference.
func describedValues() error {
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	return described(text)
}

func described(text []byte) error {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	return keysDescribed("", document.Content[0])
}

// keysDescribed returns an error if a key of a mapping has no comment. A mapping without one needs comments at its own keys.
func keysDescribed(path string, mapping *yaml.Node) error {
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		if key.HeadComment != "" {
			continue
		}
		if value.Kind != yaml.MappingNode {
			return fmt.Errorf("values.yaml: %s%s has no comment", path, key.Value)
		}
		if err := keysDescribed(path+key.Value+".", value); err != nil {
			return err
		}
	}
	return nil
}
