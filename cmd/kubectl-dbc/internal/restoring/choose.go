/*
SPDX-License-Identifier: Apache-2.0
*/

package restoring

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Facts are what a choice depends on.
type Facts struct {
	Cluster *dbv1.DatabaseCluster
	Backups []dbv1.DatabaseBackup
	Now     time.Time
}

// Ask is what the user asks for.
type Ask struct {
	Moment
	// Backup is the name of a backup; empty for the best one.
	Backup string
	// Name is the name of the DatabaseRestore; empty for one from the name of the cluster and the time.
	Name string
	// Preview is true for another cluster with the data. Otherwise, the cluster itself gets the data.
	Preview bool
}

// Choice is a DatabaseRestore, and its description.
type Choice struct {
	Restore *dbv1.DatabaseRestore
	Lines   []string
	// Risk is why the user must confirm it; empty for a preview.
	Risk string
}

// Choose chooses the backup, or returns why the data cannot be restored.
func Choose(f Facts, ask Ask) (Choice, error) {
	if err := f.refuse(ask); err != nil {
		return Choice{}, err
	}
	backup, err := f.backup(ask)
	if err != nil {
		return Choice{}, err
	}
	restore := &dbv1.DatabaseRestore{
		TypeMeta:   metav1.TypeMeta{APIVersion: dbv1.GroupVersion.String(), Kind: "DatabaseRestore"},
		ObjectMeta: metav1.ObjectMeta{Namespace: f.Cluster.Namespace, Name: cmp.Or(ask.Name, name(f.Cluster.Name, f.Now))},
		Spec: dbv1.DatabaseRestoreSpec{
			ClusterRef: dbv1.RestoreClusterRef{Name: f.Cluster.Name}, Mode: dbv1.RestoreReplace,
			Source: dbv1.RestoreSource{BackupRef: &dbv1.RestoreBackupRef{Name: backup.Name}, RecoveryTarget: ask.target()},
		},
	}
	if ask.Preview {
		restore.Spec.Mode = dbv1.RestorePreview
	}
	return f.describe(restore, backup, ask), nil
}

// refuse returns why nothing can be restored with this cluster.
func (f Facts) refuse(ask Ask) error {
	c, replacement := f.Cluster, f.Cluster.Status.Replacement
	switch {
	case c.DeletionTimestamp != nil:
		return fmt.Errorf("DatabaseCluster %s is being deleted", c.Name)
	case ask.Preview:
		return nil
	case c.Spec.Storage.Ephemeral != nil && *c.Spec.Storage.Ephemeral:
		return errors.New("ephemeral storage has no volumes to replace: restore with --preview")
	case replacement != nil && replacement.RestoreRef != nil:
		return fmt.Errorf("DatabaseRestore %s has replaced the data, and retains the volumes from before. Delete it first, which deletes the "+
			"volumes that the cluster does not use. Or restore with --preview", replacement.RestoreRef.Name)
	case c.Spec.Paused:
		return errors.New("spec.paused is true, so the operator changes nothing: set it to false first")
	}
	return nil
}

// name is a name for a DatabaseRestore: at most 32 characters.
func name(cluster string, now time.Time) string {
	const limit, stamp = 32, "060102-150405"
	return strings.TrimRight(cluster[:min(len(cluster), limit-1-len(stamp))], "-") + "-" + now.UTC().Format(stamp)
}

// backup is the backup with which the restore begins.
func (f Facts) backup(ask Ask) (*dbv1.DatabaseBackup, error) {
	if ask.inArchive() {
		if err := f.covers(ask.Moment); err != nil {
			return nil, err
		}
	}
	if ask.Backup != "" {
		return f.named(ask)
	}
	chosen := state.BestBackup(f.Cluster, f.Backups, ask.target())
	switch {
	case chosen != nil:
		return chosen, nil
	case ask.inArchive():
		return nil, fmt.Errorf("no complete backup of DatabaseCluster %[1]s began in its archive before that moment: kubectl dbc backups "+
			"%[1]s lists them", f.Cluster.Name)
	default:
		return nil, f.none()
	}
}

// none is why no backup was chosen.
func (f Facts) none() error {
	failed := func(b dbv1.DatabaseBackup) bool {
		return b.Spec.Cluster == f.Cluster.Name && b.Status.Phase == dbv1.BackupCompleted && bad(&b)
	}
	if i := slices.IndexFunc(f.Backups, failed); i >= 0 {
		return fmt.Errorf("the verification of DatabaseBackup %[1]s failed, and there is no other complete backup: --backup %[1]s restores it "+
			"all the same", f.Backups[i].Name)
	}
	return fmt.Errorf("DatabaseCluster %[1]s has no complete backup: kubectl dbc backup %[1]s creates one", f.Cluster.Name)
}

// bad reports whether the last verification of a backup failed.
func bad(b *dbv1.DatabaseBackup) bool {
	return b.Status.Verification != nil && b.Status.Verification.Phase == dbv1.VerificationFailed
}

// named is the backup that the user names. One whose verification failed is accepted: the user may have no other.
func (f Facts) named(ask Ask) (*dbv1.DatabaseBackup, error) {
	cluster := f.Cluster.Name
	i := slices.IndexFunc(f.Backups, func(b dbv1.DatabaseBackup) bool { return b.Name == ask.Backup && b.Spec.Cluster == cluster })
	if i < 0 {
		return nil, fmt.Errorf("DatabaseCluster %s has no DatabaseBackup %s: kubectl dbc backups %s lists them", cluster, ask.Backup, cluster)
	}
	b := &f.Backups[i]
	switch {
	case b.Status.Phase != dbv1.BackupCompleted || b.DeletionTimestamp != nil:
		return nil, fmt.Errorf("DatabaseBackup %s is not complete", b.Name)
	case ask.inArchive() && f.ofPrevious(b):
		return nil, fmt.Errorf("DatabaseBackup %s is of a previous cluster of the same name (UID %s, now %s). The archive of this one does "+
			"not continue it: leave out --at", b.Name, b.Status.ClusterUID, f.Cluster.UID)
	case ask.inArchive() && !state.Begins(b, &dbv1.RecoveryTarget{}):
		return nil, fmt.Errorf("DatabaseBackup %s did not begin in the archive, so only its own data can be restored: leave out --at", b.Name)
	case !state.Begins(b, ask.target()):
		return nil, fmt.Errorf("DatabaseBackup %s ended at %s, after that moment: name an older one", b.Name, text.Time(state.EndOf(b.Status)))
	}
	return b, nil
}

// ofPrevious reports whether a backup is of a previous cluster of the same name, which can have had other data.
func (f Facts) ofPrevious(b *dbv1.DatabaseBackup) bool {
	return b.Status.ClusterUID != "" && b.Status.ClusterUID != string(f.Cluster.UID)
}
