/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const (
	// failuresKept is how many failed backups of a schedule are retained, for their messages.
	failuresKept = 3
	// deletionsAtOnce is how many backups of a cluster may be terminating at a time: a Job deletes the data of each.
	deletionsAtOnce = 3
)

// expired are the backups that no schedule retains any more, oldest first. A schedule that is suspended or was removed deletes
// nothing, because the user wants to keep existing backups.
func expired(cluster *dbv1.DatabaseCluster, observed state.Observed) []operation.Removal {
	if observed.Doubtful() {
		return nil
	}
	var all []operation.Removal
	spared := indispensable(cluster, observed)
	for _, s := range cluster.Spec.Backup.Schedules {
		if s.Suspend {
			continue
		}
		for _, backup := range unwanted(s, madeBy(s.Name, cluster, observed), observed) {
			if !spared[backup.UID] && !backup.Read && !backup.Verifying() {
				all = append(all, backupOf(backup).Because(fmt.Sprintf("schedule %q no longer retains it", s.Name)))
			}
		}
	}
	room := deletionsAtOnce - len(state.Only(observed.Backups, func(b state.Backup) bool { return b.Terminating }))
	return all[:min(len(all), max(room, 0))]
}

// madeBy returns the finished backups that a schedule of this cluster created, oldest first. Only status.origin records that.
func madeBy(schedule string, cluster *dbv1.DatabaseCluster, observed state.Observed) []state.Backup {
	all := state.Only(observed.Backups, func(b state.Backup) bool {
		ours := b.CreatedFor == cluster.UID && b.Of(cluster)
		return ours && b.Schedule == schedule && !b.ScheduledAt.IsZero() && b.Phase.Finished() && !b.Terminating
	})
	slices.SortFunc(all, state.Younger)
	return all
}

// unwanted returns the backups of a schedule that its retention does not retain, oldest first: complete ones beyond count and age,
// and all but the latest failed ones. A complete one counts against older ones whose data it has.
func unwanted(s dbv1.BackupSchedule, made []state.Backup, observed state.Observed) []state.Backup {
	var all, complete []state.Backup
	var failed int32
	for _, backup := range slices.Backward(made) {
		if backup.Complete() {
			complete = append(complete, backup)
			number := len(state.Only(complete, func(newer state.Backup) bool { return situation.Replaces(observed, newer, backup) }))
			if s.Retention == nil || wanted(*s.Retention, backup, int32(number), observed.At) {
				continue
			}
		} else if failed++; failed <= failuresKept {
			continue
		}
		all = append(all, backup)
	}
	slices.Reverse(all)
	return all
}

// wanted reports whether a retention retains a complete backup. The newest complete backup with its data has the number 1.
func wanted(retention dbv1.BackupRetention, backup state.Backup, number int32, now time.Time) bool {
	counted := retention.Count != nil && number <= *retention.Count
	young := retention.Period != nil && now.Before(backup.Completed.Add(retention.Period.Duration))
	return counted || young
}

// indispensable are the backups that are retained regardless of the retention: the newest complete one, the newest one that is not known
// to be bad, the newest verified one, and those that the window of an archive needs. The first three are determined for the cluster and
// for its schedules, also of all data that is in a backup, by creation time and by completion time, because clocks differ. They include
// the newest complete backup of each schedule, and those that record which times are done: the newest of each schedule and the last
// verified one.
func indispensable(cluster *dbv1.DatabaseCluster, observed state.Observed) map[types.UID]bool {
	spared := map[types.UID]bool{}
	spare := func(backup state.Backup, found bool) {
		if found {
			spared[backup.UID] = true
		}
	}
	spareNewest(observed, spare)
	for _, backup := range state.Only(observed.Backups, state.Backup.Complete) {
		spare(backup, needed(cluster, backup, observed))
	}
	if cluster.Spec.Backup.Verification != nil {
		spare(observed.Verified(func(state.Backup) bool { return true }))
		spare(observed.Verified(observed.Past))
	}
	for _, s := range cluster.Spec.Backup.Schedules {
		of := func(b state.Backup) bool { return b.Schedule == s.Name }
		spare(observed.Newest(func(b state.Backup) bool { return of(b) && b.Complete() }))
		spare(observed.Last(scheduled, of))
		spare(observed.Last(scheduled, func(b state.Backup) bool { return of(b) && !b.ScheduledAt.After(observed.At) }))
	}
	return spared
}

// spareNewest retains the newest backups, of all data and of the data of each member.
func spareNewest(observed state.Observed, spare func(backup state.Backup, found bool)) {
	notBad := func(b state.Backup) bool { return b.Complete() && !b.Bad() }
	for _, with := range contents(observed) {
		for _, is := range []func(state.Backup) bool{state.Backup.Complete, notBad, state.Backup.Good} {
			holds := func(b state.Backup) bool { return is(b) && with(b) }
			own := func(b state.Backup) bool { return b.Schedule != "" && holds(b) } // a user may delete any other
			spare(observed.Newest(holds))
			spare(observed.Newest(own))
			spare(observed.Last(completed, holds))
			spare(observed.Last(completed, own))
		}
	}
}

// needed reports whether the window of the continuous archive needs a backup, as far as that is known. The status knows only about the
// backups beside its location, with its key. One at an earlier destination, or with another key, remains until a later backup is older than
// the window.
func needed(cluster *dbv1.DatabaseCluster, backup state.Backup, observed state.Observed) bool {
	if !engine.Archives(cluster.Spec) || cluster.Spec.Backup.Archive.WindowHours == 0 {
		return false
	}
	seen := cluster.Status.Recovery
	if seen == nil || len(seen.Backups) == 0 {
		return true
	}
	sameKey := backup.EncryptionSecret == cluster.Spec.Backup.Destination.EncryptionSecretName
	if !sameKey || seen.Location != protocol.ArchiveBeside(backup.Location, backup.Lineage) {
		begin := metav1.NewTime(observed.At.Add(-time.Duration(cluster.Spec.Backup.Archive.WindowHours+1) * time.Hour))
		return !slices.ContainsFunc(observed.Backups, func(b state.Backup) bool {
			return b.Complete() && !b.Bad() && backup.Completed.Before(&b.Completed) && b.Completed.Before(&begin)
		})
	}
	return slices.Contains(seen.Backups, backup.Name) || !backup.Completed.Before(&seen.CheckedAt)
}

// contents are conditions for backups: any backup, and one with the data of a member, for all data that is in a backup.
func contents(observed state.Observed) []func(state.Backup) bool {
	all := []func(state.Backup) bool{func(state.Backup) bool { return true }}
	var seen []state.Data
	for _, b := range observed.Backups {
		for _, d := range situation.DataIn(observed, b) {
			if b.Complete() && !slices.Contains(seen, d) {
				seen = append(seen, d)
				all = append(all, func(b state.Backup) bool { return situation.Has(observed, b, d) })
			}
		}
	}
	return all
}

// completed and scheduled order backups by these times.
func completed(a, b state.Backup) int { return a.Completed.Compare(b.Completed.Time) }
func scheduled(a, b state.Backup) int { return a.ScheduledAt.Compare(b.ScheduledAt.Time) }
