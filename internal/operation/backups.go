/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Backups is an operation on the DatabaseBackups that a schedule asks for: CreateBackup, VerifyBackup or ExpireBackups. These
// operations disturb no member, so they prevent no other operation, and none prevents them.
//
//sumtype:decl
type Backups interface {
	OnCluster
	backups()
}

type ofBackups struct{}

func (ofBackups) onCluster() {}
func (ofBackups) backups()   {}

// CreateBackup creates the DatabaseBackup of a schedule, then records in its status that the schedule created it.
type CreateBackup struct {
	ofBackups
	Aside
	Child  objects.Child
	Origin dbv1.BackupOrigin
}

// VerifyBackup requests the restore of a backup into a temporary copy.
type VerifyBackup struct {
	ofBackups
	Aside
	Backup state.Backup
	// Request is the value of the annotation that requests it.
	Request string
}

// ExpireBackups deletes DatabaseBackups that no schedule retains any more.
type ExpireBackups struct {
	ofBackups
	Aside
	Backups []Removal
}

func (c CreateBackup) String() string { return "create " + c.Child.String() }
func (v VerifyBackup) String() string {
	return fmt.Sprintf("verify DatabaseBackup %s (%s)", v.Backup.Name, v.Request)
}
func (e ExpireBackups) String() string { return "expire " + Describe(e.Backups) }
