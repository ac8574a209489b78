/*
SPDX-License-Identifier: Apache-2.0
*/

// Package schedule decides which backups and verifications are due, and which backups no schedule retains any more.
package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// Subject are the schedules of backups.
var Subject = subject.Subject{Read: readBackups, Decide: decide, Watches: subject.Watches{Indexes: indexes},
	Transitions: []operation.Transition{
		operation.Reported(dbv1.ConditionBackupHealthy, metav1.ConditionFalse, "", corev1.EventTypeWarning),
		operation.Reported(dbv1.ConditionBackupHealthy, metav1.ConditionTrue, dbv1.ReasonDataReplaced, corev1.EventTypeWarning),
		operation.Reported(dbv1.ConditionBackupVerified, metav1.ConditionFalse, "", corev1.EventTypeWarning),
	}}

func decide(s *situation.Situation) subject.Decision {
	p := For(s.Cluster, s.Observed)
	return subject.Decision{Operations: p.Operations, RequeueAfter: p.RequeueAfter(s.At), Report: report{s, p}.write}
}

// Plan is the result of the schedules, independent of the other operations of a pass.
type Plan struct {
	// Operations create the DatabaseBackup that is due, request a verification, and delete expired backups.
	Operations operation.List
	// Next is when the next backup is due; zero for never.
	Next time.Time
	// Taken describes the DatabaseBackup that already has the name of the one that is due.
	Taken string
	// Invalid describes schedules that are invalid, and VerifyInvalid why spec.backup.verification is.
	Invalid, VerifyInvalid string
	// changesAt is the time at which any of this, or a report of it, changes without an event; zero for never.
	changesAt time.Time
}

// RequeueAfter is the time until the next pass if no event occurs; 0 for never.
func (p *Plan) RequeueAfter(now time.Time) time.Duration {
	if p.changesAt.IsZero() {
		return 0
	}
	return p.changesAt.Sub(now)
}

// wake requests a pass at a time, at the latest.
func (p *Plan) wake(at time.Time) {
	if !at.IsZero() && (p.changesAt.IsZero() || at.Before(p.changesAt)) {
		p.changesAt = at
	}
}

// takenRequeue is the interval for checking a name that is in use: the operator does not watch backups of other clusters.
const takenRequeue = 30 * time.Second

// For decides which operations are due. It has no state: the existing DatabaseBackups record which times are done.
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
	p.Operations = slices.Concat(p.create(cluster, observed, schedules), verify, ExpireBackups(expired(cluster, observed)))
	p.wake(p.Next)
	return p
}

// clockRuns reports whether schedules create and delete backups: the cluster has members to back up, or had some.
func clockRuns(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	return cluster.DeletionTimestamp == nil && !cluster.Spec.Paused && !cluster.Spec.Hibernated && observed.StatefulSet != nil
}

// schedule is a valid schedule of the spec that is not suspended.
type schedule struct {
	dbv1.BackupSchedule
	timetable
}

// read parses the schedules. An invalid one does not block the others.
func (p *Plan) read(cluster *dbv1.DatabaseCluster, observed state.Observed) []schedule {
	var all []schedule
	var texts []string
	for _, declared := range cluster.Spec.Backup.Schedules {
		times, err := readTimetable(declared.Schedule, declared.TimeZone, state.FactsOf[Facts](observed).Zones)
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

// due is the schedule that has waited longest, and its time; zero for none. One backup makes up for any number of missed times.
func (p *Plan) due(cluster *dbv1.DatabaseCluster, observed state.Observed, schedules []schedule) (due schedule, dueAt time.Time) {
	for _, s := range schedules {
		if next := s.next(observed.At); !next.IsZero() && (p.Next.IsZero() || next.Before(p.Next)) {
			p.Next = next
		}
		at, found := s.last(anchor(s.Name, cluster, observed), observed.At)
		if found && (dueAt.IsZero() || at.Before(dueAt)) {
			due, dueAt = s, at
		}
	}
	if at, found := p.base(cluster, observed, schedules); found && (dueAt.IsZero() || at.Before(dueAt)) {
		due, dueAt = schedules[0], at
	}
	return due, dueAt
}

// create creates the backup that is due. While a scheduled backup is unfinished, it creates no other.
func (p *Plan) create(cluster *dbv1.DatabaseCluster, observed state.Observed, schedules []schedule) operation.List {
	due, dueAt := p.due(cluster, observed, schedules)
	if dueAt.IsZero() || slices.ContainsFunc(observed.Backups, unfinished) {
		return nil
	}
	strangers := state.FactsOf[Facts](observed).Strangers
	next := resumed(scheduledBackup(cluster, due.Name, dueAt), cluster.Name, strangers)
	if text, isTaken := taken(next, strangers); isTaken {
		p.Taken = text
		p.wake(observed.At.Add(takenRequeue))
		return nil
	}
	return operation.List{next}
}

// unfinished reports whether a scheduled backup blocks the next one. One that is being deleted may wait for a lost node: the next
// one is created, and reports what it waits for.
func unfinished(b state.Backup) bool {
	return b.Schedule != "" && !b.Phase.Finished() && !b.Terminating
}

// anchor is the scheduled time of the newest backup of a schedule, with any result: that time is done. A time in the future does
// not count, or a wrong clock could stop all backups.
func anchor(schedule string, cluster *dbv1.DatabaseCluster, observed state.Observed) time.Time {
	newest := cluster.CreationTimestamp.Time
	for _, other := range observed.Backups {
		if other.Schedule == schedule && !other.ScheduledAt.After(observed.At) {
			newest = later(newest, other.ScheduledAt.Time)
		}
	}
	return newest
}

// Overdue returns when the newest complete backup will be too old, or the first one is due. found is false if the spec sets no
// maximum.
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
