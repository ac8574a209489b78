/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// RestoreStatus is how far the restore is that a cluster starts with, or how it went; nil where there is none. The
// plan's message is what it does or waits for.
func RestoreStatus(cluster *dbv1.DatabaseCluster, observed state.Observed, todo Plan) *dbv1.RestoreStatus {
	before := cluster.Status.Restore
	r := restoreOf(cluster, observed)
	switch {
	case cluster.DeletionTimestamp != nil:
		return before
	case r == nil:
		return ended(cluster, observed)
	case state.FromBackup(cluster) == nil:
		return nil
	}
	now := &dbv1.RestoreStatus{Phase: dbv1.RestoreRunning, Message: todo.Why}
	if todo.Stalled != nil {
		now.Phase, now.Message = dbv1.RestoreFailed, todo.Stalled.Message
	}
	if r.from != nil {
		now.From = r.from.URL
		r.count(now)
	}
	return now
}

// progressAgain is how often it is looked how far a restore is.
const progressAgain = 5 * time.Second

// restoreAgain is when to look again at a restore: progress wakes nobody, and the DatabaseBackup, Secret or claim by which
// the backup is reached is not watched.
func restoreAgain(cluster *dbv1.DatabaseCluster, observed state.Observed) time.Duration {
	r := restoreOf(cluster, observed)
	switch {
	case r == nil || cluster.DeletionTimestamp != nil:
		return 0
	case slices.ContainsFunc(observed.Restore.Jobs, func(j state.RestoreTask) bool { return j.Active || !j.Succeeded && !j.Failed && j.Pod == "" }):
		return progressAgain
	case state.FromBackup(cluster) != nil && (r.from == nil || sourceProblem(cluster, observed.Restore) != ""):
		return missingAgain
	default:
		return 0
	}
}

// ended is a restore that is over: the members are started with what it brought.
func ended(cluster *dbv1.DatabaseCluster, observed state.Observed) *dbv1.RestoreStatus {
	before := cluster.Status.Restore
	if before != nil && before.Phase == dbv1.RestoreCompleted {
		return before
	}
	for _, v := range observed.Volumes {
		if v.Restored == "" || v.Cluster != cluster.UID || state.FromBackup(cluster) == nil && before == nil {
			continue
		}
		done := &dbv1.RestoreStatus{From: v.Restored, Phase: dbv1.RestoreCompleted}
		if before != nil {
			done.Bytes, done.TotalBytes = before.Bytes, before.TotalBytes
		}
		bytes, total := brought(observed.Restore.Jobs)
		done.Bytes = max(done.Bytes, bytes)
		done.TotalBytes = max(done.TotalBytes, total, done.Bytes)
		return done
	}
	return nil
}

// brought is what the Jobs say that the members have read of the backup, and what it holds, while they are still there
// to ask.
func brought(jobs []state.RestoreTask) (bytes, total int64) {
	for _, job := range jobs {
		if job.Succeeded && job.Result != nil {
			read, all, _ := far(job)
			bytes, total = bytes+read, total+all
		}
	}
	return bytes, total
}

// count adds up how far the Jobs are. Where one that runs does not tell, or the volumes are about to be marked, the
// numbers stay as they were.
func (r *restore) count(now *dbv1.RestoreStatus) {
	if slices.ContainsFunc(r.own, func(v state.Volume) bool { return v.Restored != "" }) {
		r.keep(now)
		return
	}
	totals := true
	for _, v := range r.filling() {
		job, _ := r.observed.Restore.Job(r.job(v))
		bytes, total, told := far(job)
		if !told {
			r.keep(now)
			return
		}
		now.Bytes, now.TotalBytes, totals = now.Bytes+bytes, now.TotalBytes+total, totals && total > 0
	}
	if !totals {
		now.TotalBytes = 0
	}
	if backup := r.observed.Restore.Backup; backup != nil && backup.Status.Bytes > 0 {
		now.TotalBytes = backup.Status.Bytes
	}
}

// far is how far one Job is, of how much, 0 for a total that it does not know yet; a Job that runs may not tell.
func far(job state.RestoreTask) (bytes, total int64, told bool) {
	switch {
	case job.Succeeded && job.Result != nil:
		return job.Result.Bytes, max(job.Result.Bytes, job.Result.TotalBytes), true
	case job.Progress != nil:
		return job.Progress.Bytes, job.Progress.TotalBytes, true
	default:
		return 0, 0, !job.Active
	}
}

func (r *restore) keep(now *dbv1.RestoreStatus) {
	if before := r.cluster.Status.Restore; before != nil && before.From == now.From {
		now.Bytes, now.TotalBytes = before.Bytes, before.TotalBytes
	}
}
