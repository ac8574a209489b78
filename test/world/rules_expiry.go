/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watchExpiry: the operator deletes only backups that it created, and only if enough newer ones are complete. It
// deletes none if a verification has failed since the last success, and never the newest verified one.
func (w *World) watchExpiry(target *dbv1.DatabaseBackup) {
	if !w.disk.own[target.UID] {
		w.Breaks("DatabaseBackup %s is deleted, although the operator did not create it", target.Name)
	}
	if kept, wanted := w.newerOwn(target), w.retained(); target.Status.Phase == dbv1.BackupCompleted && kept < wanted {
		w.Breaks("DatabaseBackup %s is deleted, although only %d newer ones of the schedule exist, want %d", target.Name, kept, wanted)
	}
	if last := w.lastVerified(dbv1.VerificationSucceeded, dbv1.VerificationFailed); last != nil &&
		last.Status.Verification.Phase == dbv1.VerificationFailed {
		w.Breaks("DatabaseBackup %s is deleted although the last verification, of %s, failed", target.Name, last.Name)
	}
	if last := w.newestVerified(); last == target.UID {
		w.Breaks("DatabaseBackup %s is deleted, although it is the newest verified one", target.Name)
	}
}

// retained is the number of backups that the schedule of the stories keeps.
func (w *World) retained() int {
	if cluster := w.Cluster(); cluster != nil && len(cluster.Spec.Backup.Schedules) > 0 {
		return int(*cluster.Spec.Backup.Schedules[0].Retention.Count)
	}
	return 0
}

// newerOwn counts the complete, retained backups that the operator created after another one.
func (w *World) newerOwn(than *dbv1.DatabaseBackup) int {
	own := slices.DeleteFunc(store.All[*dbv1.DatabaseBackup](w.Store), func(b *dbv1.DatabaseBackup) bool {
		kept := b.Status.Phase == dbv1.BackupCompleted && b.DeletionTimestamp == nil && w.disk.own[b.UID]
		return !kept || !b.CreationTimestamp.After(than.CreationTimestamp.Time)
	})
	return len(own)
}

// lastVerified returns the backup with the latest start of a verification that ended in one of these phases.
func (w *World) lastVerified(ended ...dbv1.BackupVerificationPhase) (last *dbv1.DatabaseBackup) {
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		v := b.Status.Verification
		if v != nil && slices.Contains(ended, v.Phase) && (last == nil || last.Status.Verification.StartTime.Before(v.StartTime)) {
			last = b
		}
	}
	return last
}

// newestVerified returns the newest complete backup that passed a verification.
func (w *World) newestVerified() types.UID {
	var newest *dbv1.DatabaseBackup
	for _, b := range store.All[*dbv1.DatabaseBackup](w.Store) {
		v := b.Status.Verification
		good := b.Status.Phase == dbv1.BackupCompleted && v != nil && v.Phase == dbv1.VerificationSucceeded
		if good && (newest == nil || newest.CreationTimestamp.Before(&b.CreationTimestamp)) {
			newest = b
		}
	}
	if newest == nil {
		return ""
	}
	return newest.UID
}

// watchCompletion: a backup becomes Completed only while its cluster exists. It has data of that cluster only, read
// with the image in its status. A terminating cluster has no rollout that could end first.
func (w *World) watchCompletion(b *dbv1.DatabaseBackup) {
	if cluster := w.Cluster(); cluster == nil || string(cluster.UID) != b.Status.ClusterUID {
		w.Breaks("DatabaseBackup %s is complete, but its cluster no longer exists", b.Name)
	}
	w.watchRows(b)
	for member, of := range w.disk.bucket[b.Status.Location].sources {
		if of.cluster != b.Status.ClusterUID {
			w.Breaks("DatabaseBackup %s is complete, but member %d was read from another cluster", b.Name, member)
		}
		if of.image != b.Status.Image && w.Cluster() != nil && w.Cluster().DeletionTimestamp == nil {
			w.Breaks("DatabaseBackup %s of %s is complete, but member %d was read with %s", b.Name, b.Status.Image, member, of.image)
		}
	}
}
