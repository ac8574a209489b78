/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// A continuous archive without a usable backup needs one now.
func TestAnArchiveWithoutABackupGetsOneAtOnce(t *testing.T) {
	lacking := func(since time.Time) func(*dbv1.DatabaseCluster) {
		return func(c *dbv1.DatabaseCluster) {
			c.Spec.Backup.Archive = &dbv1.ClusterArchive{}
			c.Status.Recovery = &dbv1.ClusterRecoveryStatus{CheckedAt: metav1.NewTime(since), NeedsBackupSince: new(metav1.NewTime(since))}
		}
	}
	tonight := made("nightly", day(0, 3))
	gap := day(0, 10).Add(30 * time.Second)
	of := func(change func(*state.Backup)) []state.Backup {
		return []state.Backup{tonight, made("nightly", gap.Add(time.Minute).Truncate(time.Minute), change)}
	}
	for name, c := range map[string]struct {
		change  func(*dbv1.DatabaseCluster)
		backups []state.Backup
		want    string
	}{
		"the next whole minute":    {lacking(gap), []state.Backup{tonight}, "nightly-2611211001"},
		"that minute has not come": {lacking(noon.Add(-20 * time.Second)), []state.Backup{tonight}, ""},
		"an earlier time is due":   {lacking(gap), nil, "nightly-2611210300"},
		"one is unfinished":        {lacking(gap), of(pendingBackup), ""},
		"one has failed":           {lacking(gap), of(failedBackup), ""},
		"one ran at that time": {lacking(gap), []state.Backup{tonight, made("", day(0, 10), pendingBackup, byHand, func(b *state.Backup) {
			b.Phase = dbv1.BackupRunning
		})}, ""},
		"one was completed since then": {lacking(gap), []state.Backup{tonight, made("", day(0, 10), byHand, func(b *state.Backup) {
			b.Created = metav1.NewTime(day(0, 9))
		})}, ""},
		"one by hand is there":                  {lacking(gap), of(byHand), ""},
		"one that did not help is not repeated": {lacking(gap), of(func(*state.Backup) {}), ""},
		"its origin could not be written": {lacking(gap), of(func(b *state.Backup) {
			b.Schedule, b.ScheduledAt, b.CreatedFor = "", metav1.Time{}, ""
		}), "nightly-2611211001"},
		"one of another destination": {lacking(gap), of(elsewhere), "nightly-2611211001"},
		"the schedule is suspended": {func(c *dbv1.DatabaseCluster) {
			lacking(gap)(c)
			c.Spec.Backup.Schedules[0].Suspend = true
		}, []state.Backup{tonight}, ""},
		"without an archive": {func(c *dbv1.DatabaseCluster) {
			lacking(gap)(c)
			c.Spec.Backup.Archive = nil
		}, []state.Backup{tonight}, ""},
	} {
		cluster := backedUp()
		c.change(cluster)
		if got := names(For(cluster, seen(t, cluster, c.backups...))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	cluster := backedUp()
	lacking(noon.Add(-20 * time.Second))(cluster)
	if p := For(cluster, seen(t, cluster, tonight)); p.RequeueAfter(noon) != 30*time.Second {
		t.Errorf("again in %s", p.RequeueAfter(noon))
	}
}

// After a DatabaseRestore has replaced the data, or given it back, the newest backup has data that the cluster does not have any more.
func TestOtherVolumesGetABackupAtOnce(t *testing.T) {
	switched := day(0, 10).Add(30 * time.Second)
	tonight := made("nightly", day(0, 3))
	tonight.Lineage = string(uid)
	later := func(change func(*state.Backup)) []state.Backup {
		return []state.Backup{tonight, made("nightly", switched.Add(time.Minute).Truncate(time.Minute), change)}
	}
	during := func(lineage string) []state.Backup { // it began before the members stopped
		return []state.Backup{tonight, made("", day(0, 10), byHand, func(b *state.Backup) {
			b.Created, b.Lineage = metav1.NewTime(day(0, 9)), lineage
		})}
	}
	for name, c := range map[string]struct {
		template string
		backups  []state.Backup
		want     string
	}{
		"restored volumes":                       {"data-0restored", []state.Backup{tonight}, "nightly-2611211001"},
		"after an undo":                          {"data", []state.Backup{tonight}, "nightly-2611211001"},
		"one is unfinished":                      {"data-0restored", later(pendingBackup), ""},
		"one that failed is not repeated":        {"data-0restored", later(failedBackup), ""},
		"one by hand":                            {"data-0restored", later(byHand), ""},
		"one that ended later, of these volumes": {"data-0restored", during(string(uid) + "-0restored"), ""},
		"one that ended later, of the others":    {"data-0restored", during(string(uid)), "nightly-2611211001"},
		"one of another destination":             {"data-0restored", later(elsewhere), "nightly-2611211001"},
	} {
		cluster := backedUp()
		cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: c.template, SwitchedAt: new(metav1.NewTime(switched))}
		if got := names(For(cluster, seen(t, cluster, c.backups...))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
