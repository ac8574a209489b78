/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// The operations on DatabaseBackups disturb no member, so they prevent no other operation, and none prevents them.

// CreateBackup creates the DatabaseBackup of a schedule, then records in its status that the schedule created it.
type CreateBackup struct {
	Child  objects.Child
	Origin dbv1.BackupOrigin
}

// Properties of CreateBackup.
func (CreateBackup) Properties() operation.Properties { return operation.Aside }

func (c CreateBackup) String() string { return "create " + c.Child.String() }

// VerifyBackup requests the restore of a backup into a temporary copy, by an annotation with this value.
func VerifyBackup(cluster *dbv1.DatabaseCluster, b state.Backup, request string) operation.Change {
	before, after := backupOf(b).In(cluster.Namespace), backupOf(b).In(cluster.Namespace)
	text := fmt.Sprintf("verify DatabaseBackup %s (%s)", b.Name, request)
	after.SetAnnotations(map[string]string{dbv1.AnnotationVerify: request})
	return operation.Change{Work: operation.Work{
		Is: operation.Aside, Text: text,
		Event: operation.Normal("VerificationScheduled", "Verify",
			fmt.Sprintf("DatabaseBackup %s will be restored into a temporary copy", b.Name)),
	}, Patches: []operation.Patch{{Before: before, After: after, Text: text}}}
}

func backupOf(b state.Backup) operation.Target {
	return operation.Target{Kind: dbv1.GroupVersion.WithKind("DatabaseBackup"), Name: b.Name, UID: b.UID, Version: b.Version}
}

// ExpireBackups deletes DatabaseBackups that no schedule retains any more. One event reports all: Kubernetes merges events of one reason
// about one object.
func ExpireBackups(all []operation.Removal) operation.List {
	return operation.Deletions(operation.Work{
		Is: operation.Aside, Text: "expire ", Event: operation.Normal("BackupExpired", "Retain", "deleting "), Listed: "; ",
	}, all)
}
