/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"slices"
)

// writeManifests writes what stays, what goes with the operator, and both. Definitions come before what protects
// them: a deletion of the file that asks in this order is refused before it takes the protection away.
func writeManifests(folder string, documents []document) error {
	var surroundings, definitions, protection, operator []document
	for _, d := range documents {
		switch {
		case d.kind == "Namespace": // databases may be in it, and would go with it
			surroundings = append(surroundings, d)
		case d.definition():
			definitions = append(definitions, d)
		case d.protection():
			protection = append(protection, d)
		default:
			operator = append(operator, d)
		}
	}
	stays := slices.Concat(surroundings, definitions, protection)
	for name, content := range map[string][]document{
		"crds.yaml": stays, "operator.yaml": operator, "install.yaml": slices.Concat(stays, operator),
	} {
		if err := write(filepath.Join(folder, name), join(content)); err != nil {
			return err
		}
	}
	return nil
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // it is no secret
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644) //nolint:gosec // it is no secret
}
