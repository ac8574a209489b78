/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Status is how far the restore is that a cluster starts with, or how it went; nil where there is none. The message says
// what the pass does or waits for, stalled what only a human can change.
func Status(s *situation.Situation, message string, stalled *situation.Stall) *dbv1.RestoreStatus {
	r, left := of(s)
	switch {
	case s.Deleting():
		return s.Cluster.Status.Restore
	case !left:
		return ended(s)
	case state.FromBackup(s.Cluster) == nil:
		return nil
	}
	now := &dbv1.RestoreStatus{Phase: dbv1.RestoreRunning, Message: message}
	if stalled != nil {
		now.Message = stalled.Message
	}
	if stalled != nil && !stalled.Blocked() {
		now.Phase = dbv1.RestoreFailed
	}
	if r.From != nil {
		now.From = r.From.URL
		r.count(now)
	}
	return now
}

// RequeueAfter is when to look again at a restore: progress wakes nobody, and the DatabaseBackup, Secret or claim by which
// the backup is reached is not watched.
func RequeueAfter(s *situation.Situation) time.Duration {
	r, left := of(s)
	switch {
	case !left || s.Deleting():
		return 0
	case slices.ContainsFunc(s.Restore.Jobs, func(j state.Task) bool { return j.Active || !j.Succeeded && !j.Failed && j.Pod == "" }):
		return situation.ProgressAgain
	case state.FromBackup(s.Cluster) != nil && (r.From == nil || sourceProblem(s.Cluster, s.Restore) != ""):
		return situation.MissingAgain
	default:
		return 0
	}
}

// ended is a restore that is over: the members are started with what it brought.
func ended(s *situation.Situation) *dbv1.RestoreStatus {
	before := s.Cluster.Status.Restore
	if before != nil && before.Phase == dbv1.RestoreCompleted {
		return before
	}
	for _, v := range s.Volumes {
		if v.Fill != state.Filled || v.Cluster != s.Cluster.UID || state.FromBackup(s.Cluster) == nil && before == nil {
			continue
		}
		done := &dbv1.RestoreStatus{From: v.From, Phase: dbv1.RestoreCompleted}
		if before != nil {
			done.Bytes, done.TotalBytes = before.Bytes, before.TotalBytes
		}
		bytes, total := brought(s.Restore.Jobs)
		done.Bytes = max(done.Bytes, bytes)
		done.TotalBytes = max(done.TotalBytes, total, done.Bytes)
		return done
	}
	return nil
}

// brought is what the Jobs say that the members have read of the backup, and what it holds, while they are still there
// to ask.
func brought(jobs []state.Task) (bytes, total int64) {
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
func (r restore) count(now *dbv1.RestoreStatus) {
	if slices.ContainsFunc(r.Restoration.Own, func(v state.Volume) bool { return v.Fill == state.Filled }) {
		r.keep(now)
		return
	}
	totals := true
	for _, v := range r.Filling() {
		job, _ := r.Restore.Job(r.job(v))
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
	if backup := r.Restore.Backup; backup != nil && backup.Status.Bytes > 0 {
		now.TotalBytes = backup.Status.Bytes
	}
}

// far is how far one Job is, of how much, 0 for a total that it does not know yet; a Job that runs may not tell.
func far(job state.Task) (bytes, total int64, told bool) {
	switch {
	case job.Succeeded && job.Result != nil:
		return job.Result.Bytes, max(job.Result.Bytes, job.Result.TotalBytes), true
	case job.Progress != nil:
		return job.Progress.Bytes, job.Progress.TotalBytes, true
	default:
		return 0, 0, !job.Active
	}
}

func (r restore) keep(now *dbv1.RestoreStatus) {
	if before := r.Cluster.Status.Restore; before != nil && before.From == now.From {
		now.Bytes, now.TotalBytes = before.Bytes, before.TotalBytes
	}
}
