/*
SPDX-License-Identifier: Apache-2.0
*/

// Package resources builds the desired objects of a cluster, one file for each kind.
package resources

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
)

// HookBackup is the DatabaseBackup that a deletion hook creates. Its data is retained when it is deleted.
func HookBackup(cluster *dbv1.DatabaseCluster, name string) objects.Child {
	return Backup(cluster, name, dbv1.BackupRetain)
}

// Backup is a DatabaseBackup of a cluster. It has no owner, because it must outlive the cluster.
func Backup(cluster *dbv1.DatabaseCluster, name string, policy dbv1.BackupDeletionPolicy) objects.Child {
	object := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"cluster": cluster.Name, "deletionPolicy": string(policy)},
	}}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseBackup"))
	object.SetNamespace(cluster.Namespace)
	object.SetName(name)
	object.SetLabels(naming.Labels(cluster, dbv1.ComponentBackup))
	return objects.Child{Object: object}
}
