/*
SPDX-License-Identifier: Apache-2.0
*/

// Package backups provides the DatabaseBackups and the DatabaseCluster for tests of their controller.
package backups

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Moment is the current time of a reconciliation.
var Moment = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// UID is the UID of the backups.
const UID = "1c2d3e4f-0000"

// Asked returns a DatabaseBackup that a user created an hour ago.
func Asked() *dbv1.DatabaseBackup {
	b := &dbv1.DatabaseBackup{}
	b.Namespace, b.Name, b.UID, b.Generation = "shop", "now", UID, 1
	b.CreationTimestamp = metav1.NewTime(Moment.Add(-time.Hour))
	b.Spec = dbv1.DatabaseBackupSpec{Cluster: "orders", DeletionPolicy: dbv1.BackupRetain}
	return b
}

// Started returns a backup of two members that started a minute ago.
func Started() *dbv1.DatabaseBackup {
	b := Asked()
	b.Finalizers = []string{dbv1.Finalizer}
	b.Status = dbv1.DatabaseBackupStatus{
		Phase: dbv1.BackupRunning, Message: "starting", Location: "s3://backups/shop/orders/now-1c2d3e4f",
		Destination: &dbv1.BackupDestination{URL: "s3://backups", CredentialsSecretName: "bucket"},
		ClusterUID:  "0a1b2c3d", Engine: "ledger-v1", Image: "example.test/ledger:1", Replicas: 2,
		StartTime: &metav1.Time{Time: Moment.Add(-time.Minute)},
	}
	return b
}

// Completed returns a backup with the data of both members.
func Completed() *dbv1.DatabaseBackup {
	b := Started()
	b.Status.Phase, b.Status.Message = dbv1.BackupCompleted, ""
	b.Status.CompletionTime = &metav1.Time{Time: Moment.Add(-time.Second)}
	b.Status.Streams = []dbv1.BackupStream{{Ordinal: 0, Bytes: 1024}, {Ordinal: 1, Bytes: 2048}}
	return b
}

// Cluster returns the cluster of the backups, with two members and their destination.
func Cluster() *dbv1.DatabaseCluster {
	cluster := &dbv1.DatabaseCluster{}
	cluster.Namespace, cluster.Name, cluster.UID = "shop", "orders", "0a1b2c3d"
	cluster.Spec = dbv1.DatabaseClusterSpec{
		Replicas: 2, Image: "example.test/ledger:1", Engine: "ledger-v1", Container: dbv1.ClusterContainer{Port: 7000, DataPath: "/ledger"},
		Storage: dbv1.ClusterStorage{Size: resource.MustParse("1Gi")},
		Backup: &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "s3://backups", CredentialsSecretName: "bucket"},
			DeadlineSeconds: 7200},
	}
	return cluster
}

// Engine returns the engine of the cluster.
func Engine() *dbv1.DatabaseEngine {
	declared := &dbv1.DatabaseEngine{}
	declared.Name = "ledger-v1"
	declared.Spec.Actions = dbv1.EngineActions{
		Backup:  &dbv1.EngineAction{Command: []string{"/dbc/scripts/backup"}},
		Restore: &dbv1.EngineAction{Command: []string{"/dbc/scripts/restore"}},
		Probe:   &dbv1.EngineAction{Command: []string{"/dbc/scripts/probe"}},
	}
	return declared
}

// Members returns the members of the cluster, both ready.
func Members() []state.Member {
	var all []state.Member
	for ordinal := range int32(2) {
		all = append(all, state.Member{Name: fmt.Sprintf("orders-%d", ordinal), Ordinal: ordinal, Ready: true})
	}
	return all
}
