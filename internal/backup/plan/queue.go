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
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Queue is the position of a backup among those of its cluster.
type Queue struct {
	// Predecessor is the next backup of the same cluster in the queue; "" if it is this one.
	Predecessor string
	// Stuck is the reason why that backup is blocked, if the user must correct it.
	Stuck string
	// Yields is true if this backup waits for that one if both have started at the same time.
	Yields bool
	// FirstSince is the time since when this backup could be first in the queue.
	FirstSince time.Time
}

// QueueOf returns the position of a backup among these backups.
func QueueOf(backup *dbv1.DatabaseBackup, all []dbv1.DatabaseBackup) Queue {
	before, since := predecessor(backup, all)
	if before == nil {
		return Queue{FirstSince: since}
	}
	return Queue{Predecessor: before.Name, Stuck: Stuck(before), Yields: earlier(before, backup), FirstSince: since}
}

// Underway reports whether the first Job of a backup was created: then no other backup precedes it.
func Underway(backup *dbv1.DatabaseBackup, seen []jobs.Job) bool {
	return Begun(backup.Status) && len(seen)+len(backup.Status.Streams) > 0
}

// predecessor finds the backup of the same cluster that is first in the queue, and since when there is none.
func predecessor(backup *dbv1.DatabaseBackup, all []dbv1.DatabaseBackup) (before *dbv1.DatabaseBackup, since time.Time) {
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

// rivals reports whether the other backup is of the same cluster. A backup that was deleted before it started never
// starts.
func rivals(other, backup *dbv1.DatabaseBackup) bool {
	if other.DeletionTimestamp != nil && !state.HasFinalizer(other) && other.Status.Phase != dbv1.BackupRunning {
		return false
	}
	return other.UID != backup.UID && other.Spec.Cluster == backup.Spec.Cluster
}

// goesFirst reports whether the other backup precedes this one: it is running, or it was created earlier. A backup
// that cannot start until the user acts must not block the others.
func goesFirst(other, backup *dbv1.DatabaseBackup) bool {
	if other.Status.Phase == dbv1.BackupRunning || Begun(backup.Status) {
		return other.Status.Phase == dbv1.BackupRunning
	}
	return earlier(other, backup) && Stuck(other) == ""
}

// Stuck is the reason why a backup is blocked until the user acts; "" for none.
func Stuck(backup *dbv1.DatabaseBackup) string {
	if is := meta.FindStatusCondition(backup.Status.Conditions, dbv1.ConditionStalled); is != nil && is.Status == metav1.ConditionTrue {
		return is.Message
	}
	return ""
}

// ahead reports which of two preceding backups precedes the other.
func ahead(a, b *dbv1.DatabaseBackup) bool {
	if running := a.Status.Phase == dbv1.BackupRunning; running != (b.Status.Phase == dbv1.BackupRunning) {
		return running
	}
	return earlier(a, b)
}

func earlier(a, b *dbv1.DatabaseBackup) bool {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name)) < 0
}
