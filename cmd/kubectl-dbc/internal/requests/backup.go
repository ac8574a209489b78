/*
SPDX-License-Identifier: Apache-2.0
*/

package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

// Backup is a new DatabaseBackup of a cluster. Without a name, it has the name of the cluster and the time.
func Backup(cluster *dbv1.DatabaseCluster, name string, policy dbv1.BackupDeletionPolicy, now time.Time) (*dbv1.DatabaseBackup, error) {
	switch {
	case cluster.DeletionTimestamp != nil:
		return nil, notDeleted(cluster)
	case cluster.Spec.Backup == nil:
		return nil, fmt.Errorf("DatabaseCluster %s has no spec.backup, so no destination is known: set spec.backup.destination", cluster.Name)
	case policy != dbv1.BackupRetain && policy != dbv1.BackupDelete:
		return nil, fmt.Errorf("the deletion policy must be Retain or Delete, not %q", policy)
	}
	return &dbv1.DatabaseBackup{
		TypeMeta:   metav1.TypeMeta{APIVersion: dbv1.GroupVersion.String(), Kind: "DatabaseBackup"},
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cmp.Or(name, cluster.Name+"-"+now.UTC().Format("20060102-150405"))},
		Spec:       dbv1.DatabaseBackupSpec{Cluster: cluster.Name, DeletionPolicy: policy},
	}, nil
}

// Of are the backups of a cluster, the newest first. Without a name, they are those of all clusters.
func Of(cluster string, backups []dbv1.DatabaseBackup) []dbv1.DatabaseBackup {
	own := slices.DeleteFunc(slices.Clone(backups), func(b dbv1.DatabaseBackup) bool { return cluster != "" && b.Spec.Cluster != cluster })
	slices.SortStableFunc(own, func(a, b dbv1.DatabaseBackup) int {
		return cmp.Or(strings.Compare(a.Spec.Cluster, b.Spec.Cluster), b.CreationTimestamp.Compare(a.CreationTimestamp.Time))
	})
	return own
}

// Table lists backups.
func Table(backups []dbv1.DatabaseBackup, now time.Time, p text.Palette) string {
	rows := [][]text.Cell{text.Cells("NAME", "CLUSTER", "PHASE", "COMPLETED", "AGE", "SIZE", "STORED", "DURATION", "VERIFIED", "FROM")}
	var said strings.Builder
	for _, b := range backups {
		from, at, verified := "user", b.CreationTimestamp.Time, text.Cell{Text: "-"}
		if b.Status.Origin != nil {
			from = "schedule " + b.Status.Origin.Schedule
		}
		if b.Status.CompletionTime != nil {
			at = b.Status.CompletionTime.Time
		}
		if v := b.Status.Verification; v != nil {
			verified = text.Cell{Text: string(v.Phase), Tone: map[dbv1.BackupVerificationPhase]text.Tone{
				dbv1.VerificationSucceeded: text.Good, dbv1.VerificationFailed: text.Bad, dbv1.VerificationRunning: text.Plain,
			}[v.Phase]}
			if v.Phase == dbv1.VerificationFailed {
				fmt.Fprintf(&said, "%s was not verified: %s\n", b.Name, v.Message)
			}
		}
		if !b.Status.Phase.Finished() || b.Status.Phase == dbv1.BackupFailed {
			fmt.Fprintf(&said, "%s is %s: %s\n", b.Name, phase(b).Text, cmp.Or(b.Status.Message, "no message"))
		}
		rows = append(rows, []text.Cell{
			{Text: b.Name}, {Text: b.Spec.Cluster}, phase(b), {Text: completed(b)}, {Text: text.Age(at, now)}, {Text: cmp.Or(b.Status.Size, "-")},
			{Text: stored(b)}, {Text: cmp.Or(b.Status.Duration, "-")}, verified, {Text: from},
		})
	}
	return p.Table("", rows) + said.String()
}

func phase(b dbv1.DatabaseBackup) text.Cell {
	tone := map[dbv1.BackupPhase]text.Tone{dbv1.BackupCompleted: text.Good, dbv1.BackupFailed: text.Bad}[b.Status.Phase]
	return text.Cell{Text: cmp.Or(string(b.Status.Phase), "Pending"), Tone: tone}
}

func completed(b dbv1.DatabaseBackup) string {
	if b.Status.CompletionTime == nil {
		return "-"
	}
	return text.Time(b.Status.CompletionTime.Time)
}

func stored(b dbv1.DatabaseBackup) string {
	if b.Status.StoredBytes == 0 {
		return "-"
	}
	return text.Bytes(b.Status.StoredBytes)
}
