/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Queue is the position of a backup among those of its cluster.
type Queue struct {
	// Before is the backup of the same cluster that is the next; "" when it is this one's turn.
	Before string
	// Stuck is what that one waits for, when only a human can change it.
	Stuck string
	// Yields tells that this one gives way to it, should both have started at one moment.
	Yields bool
	// Turn is since when it could be this one's.
	Turn time.Time
}

// QueueOf finds out whether another of these backups goes first.
func QueueOf(backup *dbv1.DatabaseBackup, all []dbv1.DatabaseBackup) Queue {
	before, since := turn(backup, all)
	if before == nil {
		return Queue{Turn: since}
	}
	return Queue{Before: before.Name, Stuck: Stuck(before), Yields: earlier(before, backup), Turn: since}
}

// Underway tells whether the first Job of a backup was created: its turn has come, whatever the others do.
func Underway(backup *dbv1.DatabaseBackup, jobs []state.Task) bool {
	return Begun(backup.Status) && len(jobs)+len(backup.Status.Streams) > 0
}

// turn finds the backup of the same cluster that goes first, and since when none does.
func turn(backup *dbv1.DatabaseBackup, all []dbv1.DatabaseBackup) (before *dbv1.DatabaseBackup, since time.Time) {
	since = backup.CreationTimestamp.Time
	for i := range all {
		other := &all[i]
		ended := other.Status.CompletionTime
		switch {
		case !rivals(other, backup):
		case !other.Status.Phase.Finished():
			if goesFirst(other, backup) && (before == nil || ahead(other, before)) {
				before = other
			}
		case ended != nil && ended.After(since) && earlier(other, backup):
			since = ended.Time
		}
	}
	return before, since
}

// rivals tells whether the other is one of the same cluster; one that was deleted before it began never begins.
func rivals(other, backup *dbv1.DatabaseBackup) bool {
	if other.DeletionTimestamp != nil && !state.Holds(other) && other.Status.Phase != dbv1.BackupRunning {
		return false
	}
	return other.UID != backup.UID && other.Spec.Cluster == backup.Spec.Cluster
}

// goesFirst: one that runs does, and before this one runs one that was created earlier, unless that cannot start
// without a human: it must not hold up the others.
func goesFirst(other, backup *dbv1.DatabaseBackup) bool {
	if other.Status.Phase == dbv1.BackupRunning || Begun(backup.Status) {
		return other.Status.Phase == dbv1.BackupRunning
	}
	return earlier(other, backup) && Stuck(other) == ""
}

// Stuck is what a backup waits for that only a human can change; "" for nothing.
func Stuck(backup *dbv1.DatabaseBackup) string {
	if is := meta.FindStatusCondition(backup.Status.Conditions, dbv1.ConditionStalled); is != nil && is.Status == metav1.ConditionTrue {
		return is.Message
	}
	return ""
}

// ahead tells which of two that go first is the one that the other waits for, too.
func ahead(a, b *dbv1.DatabaseBackup) bool {
	if running := a.Status.Phase == dbv1.BackupRunning; running != (b.Status.Phase == dbv1.BackupRunning) {
		return running
	}
	return earlier(a, b)
}

func earlier(a, b *dbv1.DatabaseBackup) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}
