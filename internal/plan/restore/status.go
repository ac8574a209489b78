/*
SPDX-License-Identifier: Apache-2.0
*/

package restore

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Status returns the progress or the result of the restore that a cluster starts with; nil for none. The message describes the
// pass, stalled the cause for which the user must act.
func Status(s *situation.Situation, message string, stalled *situation.Stall) *dbv1.ClusterRestoreStatus {
	r, left := of(s)
	switch {
	case s.Deleting():
		return s.Cluster.Status.Restore
	case !left:
		return ended(s)
	case state.FromBackup(s.Cluster) == nil:
		return nil
	}
	now := &dbv1.ClusterRestoreStatus{Phase: dbv1.RestoreRunning, Message: message}
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

// RequeueAfter returns the interval for checking a restore. Progress causes no event, and the operator does not watch the
// DatabaseBackup, Secret or claim of the source.
func RequeueAfter(s *situation.Situation) time.Duration {
	r, left := of(s)
	switch {
	case !left || s.Deleting():
		return 0
	case slices.ContainsFunc(s.Restore.Jobs, func(j jobs.Job) bool { return j.Active || !j.Succeeded && !j.Failed && j.Pod == "" }):
		return situation.ProgressRequeue
	case state.FromBackup(s.Cluster) != nil && (r.From == nil || r.sourceProblem() != ""):
		return situation.MissingRequeue
	default:
		return 0
	}
}

// ended returns the status of a finished restore, after the members have started.
func ended(s *situation.Situation) *dbv1.ClusterRestoreStatus {
	before := s.Cluster.Status.Restore
	if state.StartsEmpty(s.Cluster) {
		return nil
	}
	if before != nil && before.Phase == dbv1.RestoreCompleted {
		return before
	}
	for _, v := range s.Volumes {
		if v.Fill != state.Filled || v.Cluster != s.Cluster.UID || state.FromBackup(s.Cluster) == nil && before == nil {
			continue
		}
		done := &dbv1.ClusterRestoreStatus{From: v.From, Phase: dbv1.RestoreCompleted}
		if before != nil {
			keep(done, before)
		}
		own := jobsOf(s, s.Volumes)
		measure(done, own)
		bytes, total := bytesRead(own)
		done.Bytes = max(done.Bytes, bytes)
		done.TotalBytes = max(done.TotalBytes, total, done.Bytes)
		return done
	}
	return nil
}

// jobsOf are the Jobs that filled these volumes. The cluster may have others, of a previous restore into other volumes.
func jobsOf(s *situation.Situation, volumes []state.Volume) []jobs.Job {
	return state.Only(s.Restore.Jobs, func(j jobs.Job) bool {
		return j.StartTime == nil || slices.ContainsFunc(volumes, func(v state.Volume) bool { return !j.StartTime.Before(&v.Created) })
	})
}

// measure records what a recovery has reached, while its Job still exists.
func measure(now *dbv1.ClusterRestoreStatus, all []jobs.Job) {
	for _, job := range all {
		if job.Succeeded && job.Result != nil && !job.Result.RecoveredTo.IsZero() {
			now.RecoveredTo, now.LastCommitTime = state.Recovered(job.Result)
			return
		}
	}
}

// bytesRead returns how many bytes the members have read, and the size of the backup, while the Jobs still exist.
func bytesRead(all []jobs.Job) (bytes, total int64) {
	for _, job := range all {
		if job.Succeeded && job.Result != nil {
			read, all, _ := progressOf(job)
			bytes, total = bytes+read, total+all
		}
	}
	return bytes, total
}

// count adds up the progress of the Jobs. If a running Job does not report it, or the claims are about to be annotated, the numbers
// do not change.
func (r restore) count(now *dbv1.ClusterRestoreStatus) {
	measure(now, jobsOf(r.Situation, r.Restoration.Own))
	if slices.ContainsFunc(r.Restoration.Own, func(v state.Volume) bool { return v.Fill == state.Filled }) {
		r.keep(now)
		return
	}
	totals := true
	for _, v := range r.Filling() {
		job, _ := r.Restore.Job(r.job(v))
		bytes, total, known := progressOf(job)
		if !known {
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

// progressOf returns the progress and total of a Job. The total is 0 while it is unknown; a running Job may not report its progress.
func progressOf(job jobs.Job) (bytes, total int64, known bool) {
	switch {
	case job.Succeeded && job.Result != nil:
		return job.Result.Bytes, max(job.Result.Bytes, job.Result.TotalBytes), true
	case job.Progress != nil:
		return job.Progress.Bytes, job.Progress.TotalBytes, true
	default:
		return 0, 0, !job.Active
	}
}

func (r restore) keep(now *dbv1.ClusterRestoreStatus) {
	if before := r.Cluster.Status.Restore; before != nil && before.From == now.From {
		keep(now, before)
	}
}

// keep takes over what no pass may read again.
func keep(now, before *dbv1.ClusterRestoreStatus) {
	now.Bytes, now.TotalBytes = before.Bytes, before.TotalBytes
	now.RecoveredTo, now.LastCommitTime = before.RecoveredTo, before.LastCommitTime
}
