/*
SPDX-License-Identifier: Apache-2.0
*/

// Package rbac holds the roles of the operator and of its users, and who has which, for the tests that hold
// what is installed against them.
package rbac

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

//go:embed *.yaml
var files embed.FS

// Objects are all that kustomization.yaml names, under their names before config/default adds its prefix.
func Objects() ([]*unstructured.Unstructured, error) { return embedded.Objects(files) }
