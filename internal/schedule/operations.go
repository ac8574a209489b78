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
	operation.Aside
	Child  objects.Child
	Origin dbv1.BackupOrigin
}

// VerifyBackup requests the restore of a backup into a temporary copy.
type VerifyBackup struct {
	operation.Aside
	Backup state.Backup
	// Request is the value of the annotation that requests it.
	Request string
}

// ExpireBackups deletes DatabaseBackups that no schedule retains any more.
type ExpireBackups struct {
	operation.Aside
	Backups []operation.Removal
}

func (c CreateBackup) String() string { return "create " + c.Child.String() }
func (v VerifyBackup) String() string {
	return fmt.Sprintf("verify DatabaseBackup %s (%s)", v.Backup.Name, v.Request)
}
func (e ExpireBackups) String() string { return "expire " + operation.Describe(e.Backups) }
