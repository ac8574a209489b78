/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engines has DatabaseEngines for stories.
package engines

import (
	"os"
	"strings"
)

// Independent is the name of an engine that runs up to nine independent databases in one cluster.
const Independent = "independent-v1"

// Manifest is the manifest of Independent: a built-in engine for a single database, without its limit of one member.
// It reads the file of that engine from a folder two levels below the root of the repository.
func Manifest(single string) (string, error) {
	text, err := os.ReadFile("../../config/engines/" + single + ".yaml")
	return strings.NewReplacer("name: "+single, "name: "+Independent, "{min: 1, max: 1}", "{min: 1, max: 9}").Replace(string(text)), err
}
