/*
SPDX-License-Identifier: Apache-2.0
*/

// Package rbac contains the roles and bindings of the operator and its users. Tests compare installed roles with them.
package rbac

import (
	"embed"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/dbcluster/databasecluster-operator/config/embedded"
)

//go:embed *.yaml
var files embed.FS

// Objects returns all objects of kustomization.yaml, with their names before config/default adds its prefix.
func Objects() ([]*unstructured.Unstructured, error) { return embedded.Objects(files) }
