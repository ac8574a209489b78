/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// need is why the first schedule creates a backup, whatever the time: since a moment, no backup has what the next restore needs.
type need struct {
	since *metav1.Time
	// met reports whether a backup may have that, or was created for it. The status may not know yet.
	met func(state.Backup) bool
}

// needs are those of a cluster: its continuous archive lacks a backup, for example after a gap, or its members got other volumes.
func needs(cluster *dbv1.DatabaseCluster) (all []need) {
	if seen := cluster.Status.Recovery; seen != nil && seen.NeedsBackupSince != nil && engine.Archives(cluster.Spec) {
		all = append(all, need{seen.NeedsBackupSince, func(b state.Backup) bool { return !b.Completed.Before(&seen.CheckedAt) }})
	}
	if r := cluster.Status.Replacement; r != nil && r.SwitchedAt != nil {
		all = append(all, need{r.SwitchedAt, func(b state.Backup) bool {
			return !b.Completed.Before(r.SwitchedAt) && situation.IsPresent(cluster, b)
		}})
	}
	return all
}

// base is the time for which the first schedule creates a backup that is needed. It is a whole minute, as that of each scheduled backup:
// their names have minutes. After any other backup since then, or while one runs, none is due. If that one does not help, the next time of
// a schedule comes.
func (p *Plan) base(cluster *dbv1.DatabaseCluster, observed state.Observed, schedules []schedule) (due time.Time, found bool) {
	if len(schedules) == 0 {
		return time.Time{}, false
	}
	for _, n := range needs(cluster) {
		at := n.since.Truncate(time.Minute).Add(time.Minute)
		switch {
		case at.After(observed.At):
			p.wake(at)
		case n.open(cluster, observed, at, schedules[0].Name) && (!found || at.Before(due)):
			due, found = at, true
		}
	}
	return due, found
}

// open reports whether no backup meets the need. One without an origin may be the one of this time: the operator could not write the
// origin.
func (n need) open(cluster *dbv1.DatabaseCluster, observed state.Observed, at time.Time, schedule string) bool {
	name := naming.ScheduledBackup(cluster.Name, schedule, at)
	return !slices.ContainsFunc(observed.Backups, func(b state.Backup) bool {
		created := !b.Created.Before(n.since) || !b.ScheduledAt.Time.Before(at)
		return b.Of(cluster) && (created || !b.Phase.Finished() || n.met(b)) && (b.Name != name || b.Schedule != "")
	})
}
