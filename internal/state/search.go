/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// StartsEmpty reports whether the cluster was to start with the newest backup, and there was none. Before it has a StatefulSet, the
// decision counts only for this cluster and the present spec: the status may be that of another cluster, and the user may have corrected
// the folder.
func StartsEmpty(cluster *dbv1.DatabaseCluster) bool {
	decided := cluster.Status.Bootstrap
	if decided == nil || decided.Decision != dbv1.BootstrapCreate {
		return false
	}
	return cluster.Status.StatefulSet != nil || decided.Search == searchOf(cluster, sourceIn(cluster.Spec.Bootstrap))
}

// sourceIn is the backup that a spec names; nil for none.
func sourceIn(bootstrap *dbv1.ClusterBootstrap) *dbv1.BackupSource {
	if bootstrap == nil {
		return nil
	}
	return bootstrap.FromBackup
}

// SearchedFolder returns the folder with the backups of which the cluster starts with the newest one; nil for any other source.
func SearchedFolder(cluster *dbv1.DatabaseCluster) *dbv1.BackupDestination {
	return folderOf(cluster, FromBackup(cluster))
}

func folderOf(cluster *dbv1.DatabaseCluster, from *dbv1.BackupSource) *dbv1.BackupDestination {
	if from == nil || from.Newest == nil {
		return nil
	}
	newest, at := from.Newest, from.Newest.Destination
	folder := protocol.FolderOf(at.URL, cmp.Or(newest.ClusterNamespace, cluster.Namespace), cmp.Or(newest.ClusterName, cluster.Name))
	at.URL = strings.TrimSuffix(folder, "/")
	return &at
}

// SearchID identifies a search by its inputs: which folder it is, and the moment that is wanted.
func SearchID(cluster *dbv1.DatabaseCluster) string { return searchOf(cluster, FromBackup(cluster)) }

func searchOf(cluster *dbv1.DatabaseCluster, from *dbv1.BackupSource) string {
	at := folderOf(cluster, from)
	if at == nil {
		return ""
	}
	inputs := []string{at.URL, at.Endpoint, at.ClaimName}
	if target := from.RecoveryTarget; target != nil {
		inputs = append(inputs, "recover="+target.Time)
	}
	return naming.SearchID(cluster.UID, inputs...)
}

// Decided returns what the operator has decided by the present spec.bootstrap.fromBackup.newest; nil before.
func Decided(cluster *dbv1.DatabaseCluster) *dbv1.ClusterBootstrapStatus {
	decided := cluster.Status.Bootstrap
	if decided == nil || SearchedFolder(cluster) == nil || decided.Search != SearchID(cluster) {
		return nil
	}
	return decided
}

// chosen returns the location of the newest backup; nil before it is decided.
func chosen(cluster *dbv1.DatabaseCluster) *dbv1.BackupDestination {
	decided := Decided(cluster)
	if decided == nil {
		return nil
	}
	at := SearchedFolder(cluster)
	at.URL = decided.Location
	return at
}

// ReadsFrom returns where Jobs read before members start: a backup, or the folder with the newest one; nil while it is unknown.
func ReadsFrom(cluster *dbv1.DatabaseCluster, backup *dbv1.DatabaseBackup) *dbv1.BackupDestination {
	return cmp.Or(SourceOf(cluster, backup), SearchedFolder(cluster))
}
