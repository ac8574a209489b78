/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engines contains the built-in DatabaseEngines, one file each.
package engines

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

//go:embed *.yaml
var files embed.FS

// Objects returns the DatabaseEngines.
func Objects() ([]*unstructured.Unstructured, error) { return embedded.Objects(files) }
