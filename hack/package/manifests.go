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
	parts := [4][]document{}
	for _, d := range documents {
		switch {
		case d.surroundings():
			parts[0] = append(parts[0], d)
		case d.definition():
			parts[1] = append(parts[1], d)
		case d.protection():
			parts[2] = append(parts[2], d)
		default:
			parts[3] = append(parts[3], d)
		}
	}
	stays := slices.Concat(parts[:3]...)
	for name, content := range map[string][]document{
		"crds.yaml": stays, "operator.yaml": parts[3], "install.yaml": slices.Concat(stays, parts[3]),
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
