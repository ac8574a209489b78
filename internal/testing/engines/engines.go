/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engines has DatabaseEngines for stories.
package engines

import (
	"os"
	"path/filepath"
	"strings"
)

// Independent is the name of an engine that runs up to nine independent databases in one cluster.
const Independent = "independent-v1"

// Current is the folder with the engines of this version, for a test two levels below the root of the repository.
const Current = "../../config/engines"

// Manifest is the manifest of Independent: a built-in engine for a single database, without its limit of one member.
func Manifest(folder, single string) (string, error) {
	text, err := os.ReadFile(filepath.Join(folder, single+".yaml")) //nolint:gosec // a file of a test
	return strings.NewReplacer("name: "+single, "name: "+Independent, "{min: 1, max: 1}", "{min: 1, max: 9}").Replace(string(text)), err
}
