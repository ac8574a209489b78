/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"slices"
)

// writeManifests writes the retained objects, the operator, both, and what a bundle for OLM cannot contain. CRDs precede their admission
// policies: a deletion of the file in this order is denied before it removes the policies.
func writeManifests(folder string, documents []document) error {
	var surroundings, definitions, protection, restriction, operator []document
	for _, d := range documents {
		switch {
		case d.kind == "Namespace": // it may contain databases, which would be deleted with it
			surroundings = append(surroundings, d)
		case d.definition():
			definitions = append(definitions, d)
		case d.protection():
			protection = append(protection, d)
		case d.restriction():
			restriction = append(restriction, d)
		default:
			operator = append(operator, d)
		}
	}
	operator = append(operator, restriction...)
	stays := slices.Concat(surroundings, definitions, protection)
	for name, content := range map[string][]document{
		"crds.yaml": stays, "operator.yaml": operator, "install.yaml": slices.Concat(stays, operator), "secret-writes.yaml": restriction,
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
