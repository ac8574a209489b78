/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	tableBegins = "<!-- values: written by make chart from values.yaml -->\n"
	tableEnds   = "<!-- end of values -->"
)

// writeTable replaces the table of the chart's values in docs/install.md.
func writeTable() error {
	values, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	rows, err := table(string(values))
	if err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	return rewrite("docs/install.md", func(text string) (string, error) {
		before, rest, begun := strings.Cut(text, tableBegins)
		_, after, ended := strings.Cut(rest, tableEnds)
		if !begun || !ended {
			return "", errors.New("it has no place for the table of the values")
		}
		return before + tableBegins + rows + tableEnds + after, nil
	})
}

// table returns a row for each key of values.yaml with a comment.
func table(values string) (string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(values), &document); err != nil {
		return "", err
	}
	below, err := rows("", document.Content[0])
	return "| value | default | what it does |\n|---|---|---|\n" + below, err
}

// rows returns the rows of a mapping. A key without a comment has rows for its nested keys instead.
func rows(path string, mapping *yaml.Node) (string, error) {
	var text strings.Builder
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		name := path + key.Value
		if key.HeadComment == "" && value.Kind == yaml.MappingNode {
			below, err := rows(name+".", value)
			if err != nil {
				return "", err
			}
			text.WriteString(below)
			continue
		}
		standard, err := inline(value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		comment := strings.ReplaceAll(strings.TrimPrefix(key.HeadComment, "# "), "\n# ", " ")
		if comment == "" {
			return "", fmt.Errorf("%s has no comment", name)
		}
		fmt.Fprintf(&text, "| `%s` | `%s` | %s |\n", name, standard, comment)
	}
	return text.String(), nil
}

// inline returns a value on one line.
func inline(value *yaml.Node) (string, error) {
	value.Style |= yaml.FlowStyle
	text, err := yaml.Marshal(value)
	return strings.TrimSpace(string(text)), err
}
