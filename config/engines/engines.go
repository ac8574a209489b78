/*
SPDX-License-Identifier: Apache-2.0
*/

// Package engines holds the DatabaseEngines that come with the operator, one file each.
package engines

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

//go:embed *.yaml
var files embed.FS

// Objects are the DatabaseEngines.
func Objects() ([]*unstructured.Unstructured, error) { return embedded.Objects(files) }
