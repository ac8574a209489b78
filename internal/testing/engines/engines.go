/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engines has DatabaseEngines for stories.
package engines

import (
	"os"
	"strings"
)

// Independent is the name of an engine that runs up to nine independent PostgreSQLs in one cluster.
const Independent = "postgresql-independent-v1"

// Manifest is the manifest of Independent: the built-in engine for a single PostgreSQL, without its limit of one member.
// It reads the file of that engine from a folder two levels below the root of the repository.
func Manifest() (string, error) {
	text, err := os.ReadFile("../../config/engines/postgresql-single-v1.yaml")
	return strings.NewReplacer("name: postgresql-single-v1", "name: "+Independent, "{min: 1, max: 1}", "{min: 1, max: 9}").Replace(string(text)), err
}
