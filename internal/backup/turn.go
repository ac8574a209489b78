/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// readOthers finds out whether another backup of the cluster goes first. One whose first Job is made has had its turn.
func (o *observation) readOthers(ctx context.Context) {
	o.Turn = o.backup.CreationTimestamp.Time
	if underway := begun(o.backup.Status) && len(o.Jobs)+len(o.backup.Status.Streams) > 0; underway || o.err != nil {
		return
	}
	options := []client.ListOption{client.InNamespace(o.backup.Namespace)}
	if o.indexed {
		options = append(options, client.MatchingFields{indexSpecCluster: o.backup.Spec.Cluster})
	}
	others := &dbv1.DatabaseBackupList{}
	if err := o.List(ctx, others, options...); err != nil {
		o.err = fmt.Errorf("list the backups of %s: %w", o.backup.Spec.Cluster, err)
		return
	}
	before, since := turn(o.backup, others.Items)
	if o.Turn = since; before != nil {
		o.Before, o.Stuck, o.Yields = before.Name, stuck(before), earlier(before, o.backup)
	}
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
	if other.DeletionTimestamp != nil && !held(other) && other.Status.Phase != dbv1.BackupRunning {
		return false
	}
	return other.UID != backup.UID && other.Spec.Cluster == backup.Spec.Cluster
}

// goesFirst: one that runs does, and before this one runs one that was created earlier, unless that cannot start
// without a human: it must not hold up the others.
func goesFirst(other, backup *dbv1.DatabaseBackup) bool {
	if other.Status.Phase == dbv1.BackupRunning || begun(backup.Status) {
		return other.Status.Phase == dbv1.BackupRunning
	}
	return earlier(other, backup) && stuck(other) == ""
}

// stuck is what a backup waits for that only a human can change; "" for nothing.
func stuck(backup *dbv1.DatabaseBackup) string {
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
