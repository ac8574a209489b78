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

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseengines,verbs=create;patch,resourceNames=etcd-v1;memcached-v1;postgresql-single-v1;postgresql-v1;redis-single-v1,roleName=manager-cluster-role

// Objects returns the DatabaseEngines.
func Objects() ([]*unstructured.Unstructured, error) { return embedded.Objects(files) }
