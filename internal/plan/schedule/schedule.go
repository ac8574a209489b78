/*
SPDX-License-Identifier: Apache-2.0
*/

// Package schedule decides what the clock asks for: backups that are due, verifications, and backups that no schedule keeps
// any more.
package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Plan is what schedules ask for, whatever else a pass has to do.
type Plan struct {
	// Operations create the DatabaseBackup that is due, request a verification, and delete what no schedule keeps any more.
	Operations operation.List
	// Next is when the next backup is due; zero for never.
	Next time.Time
	// Taken says which DatabaseBackup has the name of the one that is due.
	Taken string
	// Invalid says which schedules cannot be read, and VerifyInvalid why spec.backup.verification cannot.
	Invalid, VerifyInvalid string
	// wakes is when time alone changes any of this, or what is reported of it; zero for never.
	wakes time.Time
}

// RequeueAfter is when to look again although nothing may change; 0 for never.
func (p *Plan) RequeueAfter(now time.Time) time.Duration {
	if p.wakes.IsZero() {
		return 0
	}
	return p.wakes.Sub(now)
}

// wake looks again at a time, at the latest.
func (p *Plan) wake(at time.Time) {
	if !at.IsZero() && (p.wakes.IsZero() || at.Before(p.wakes)) {
		p.wakes = at
	}
}

// takenAgain is how often a name that is taken is looked at again: the backups of other clusters are not watched.
const takenAgain = 30 * time.Second

// For decides what schedules ask for. It holds no state: the DatabaseBackups that there are tell which
// times are done with.
func For(cluster *dbv1.DatabaseCluster, observed state.Observed) Plan {
	p := Plan{}
	if cluster.Spec.Backup == nil {
		return p
	}
	schedules := p.read(cluster, observed)
	if overdue, turns := Overdue(cluster, observed); turns && overdue.After(observed.At) {
		p.wake(overdue)
	}
	verify := p.verify(cluster, observed)
	if !clockRuns(cluster, observed) {
		return p
	}
	p.Operations = append(p.create(cluster, observed, schedules), verify...)
	if all := expired(cluster, observed); len(all) > 0 {
		p.Operations = append(p.Operations, operation.ExpireBackups{Backups: all})
	}
	p.wake(p.Next)
	return p
}

// clockRuns tells whether backups are made and deleted by the clock: there are members to back up, or have been.
func clockRuns(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	return cluster.DeletionTimestamp == nil && !cluster.Spec.Paused && !cluster.Spec.Hibernated && observed.StatefulSet != nil
}

// schedule is one of a spec that can be read and is not suspended.
type schedule struct {
	dbv1.BackupSchedule
	timetable
}

// read reads the schedules. One that cannot be read does not keep the others from their work.
func (p *Plan) read(cluster *dbv1.DatabaseCluster, observed state.Observed) []schedule {
	var all []schedule
	var texts []string
	for _, declared := range cluster.Spec.Backup.Schedules {
		times, err := readTimetable(declared.Schedule, declared.TimeZone, observed.Zones)
		switch {
		case err != nil:
			texts = append(texts, fmt.Sprintf("schedule %q creates no backups: %v", declared.Name, err))
		case !declared.Suspend:
			all = append(all, schedule{declared, times})
		}
	}
	p.Invalid = strings.Join(texts, "; ")
	return all
}

// create makes the backup of the schedule that has waited longest. However many times have passed, one backup
// makes up for them; and while one by the clock is unfinished there is no other.
func (p *Plan) create(cluster *dbv1.DatabaseCluster, observed state.Observed, schedules []schedule) operation.List {
	var due schedule
	var dueAt time.Time
	for _, s := range schedules {
		if next := s.next(observed.At); !next.IsZero() && (p.Next.IsZero() || next.Before(p.Next)) {
			p.Next = next
		}
		at, found := s.last(anchor(s.Name, cluster, observed), observed.At)
		if found && (dueAt.IsZero() || at.Before(dueAt)) {
			due, dueAt = s, at
		}
	}
	if dueAt.IsZero() || slices.ContainsFunc(observed.Backups, unfinished) {
		return nil
	}
	next := scheduledBackup(cluster, due.Name, dueAt)
	if text, isTaken := taken(next, observed.Strangers); isTaken {
		p.Taken = text
		p.wake(observed.At.Add(takenAgain))
		return nil
	}
	return operation.List{next}
}

// unfinished tells whether a backup by the clock is. One that is being deleted may wait for a node that is lost: the next
// one is made, and tells what it waits for.
func unfinished(b state.Backup) bool {
	return b.Schedule != "" && !b.Phase.Finished() && !b.Terminating
}

// anchor is the time by a schedule of its newest backup, whatever became of that: it is done with. A time
// that has not come yet is none, or a clock that once was wrong would end all backups.
func anchor(schedule string, cluster *dbv1.DatabaseCluster, observed state.Observed) time.Time {
	newest := cluster.CreationTimestamp.Time
	for _, other := range observed.Backups {
		if other.Schedule == schedule && !other.ScheduledAt.After(observed.At) {
			newest = later(newest, other.ScheduledAt.Time)
		}
	}
	return newest
}

// Overdue is when the newest complete backup will be too old, or the first has to be there; found is false where
// the spec sets no maximum.
func Overdue(cluster *dbv1.DatabaseCluster, observed state.Observed) (at time.Time, found bool) {
	if cluster.Spec.Backup == nil || cluster.Spec.Backup.UnhealthyAfter == nil {
		return time.Time{}, false
	}
	since := cluster.CreationTimestamp.Time
	if newest, found := observed.Newest(state.Backup.Complete); found {
		since = newest.Completed.Time
	}
	return since.Add(cluster.Spec.Backup.UnhealthyAfter.Duration), true
}
