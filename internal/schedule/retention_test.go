/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func keep(count int32, maxAge time.Duration) *dbv1.BackupRetention {
	r := &dbv1.BackupRetention{}
	if count > 0 {
		r.Count = &count
	}
	if maxAge > 0 {
		r.Period = &metav1.Duration{Duration: maxAge}
	}
	return r
}

// nights returns the backups of the schedule nightly for so many nights, the last one tonight.
func nights(count int, changes ...func(ago int, b *state.Backup)) []state.Backup {
	all := make([]state.Backup, 0, count)
	for ago := count - 1; ago >= 0; ago-- {
		b := made("nightly", day(ago, 3))
		for _, change := range changes {
			change(ago, &b)
		}
		all = append(all, b)
	}
	return all
}

func only(nights []int, change func(*state.Backup)) func(int, *state.Backup) {
	return func(ago int, b *state.Backup) {
		if slices.Contains(nights, ago) {
			change(b)
		}
	}
}

// provedAt adds a successful verification that started at a time.
func provedAt(at time.Time) func(*state.Backup) {
	return func(b *state.Backup) {
		b.Verification = state.Verification{Phase: dbv1.VerificationSucceeded, Started: metav1.NewTime(at)}
	}
}

// window is that of an archive that needs some backups at a time.
func window(at time.Time, needed ...string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Archive = &dbv1.ClusterArchive{WindowHours: 24}
		c.Status.Recovery = &dbv1.ClusterRecoveryStatus{Location: protocol.ArchiveBeside("", ""), Backups: needed, CheckedAt: metav1.NewTime(at)}
	}
}

func elsewhere(b *state.Backup) { b.Elsewhere = true }

// Seven nightlies, verified once a week: the oldest was verified, then six were not, and the verification of tonight's fails.
func TestTheOnlyVerifiedBackupIsRetainedWhenTonightsCannotBeRestored(t *testing.T) {
	cluster := backedUp()
	cluster.CreationTimestamp = metav1.NewTime(day(20, 0))
	cluster.Spec.Backup.Schedules[0].Retention = keep(7, 0)
	cluster.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Schedule: "0 5 * * 0"}
	week := nights(8, only([]int{7}, provedAt(day(7, 5))), only([]int{0}, func(b *state.Backup) {
		b.Verification = state.Verification{Phase: dbv1.VerificationFailed, Started: metav1.NewTime(day(0, 5))}
	}))
	if got := expiredNames(For(cluster, seen(t, cluster, week...))); len(got) > 0 {
		t.Errorf("%v expire", got)
	}
	week[7].Verification = state.Verification{}
	if got := expiredNames(For(cluster, seen(t, cluster, append(week, made("nightly", day(0, 9)))...))); len(got) > 1 || slices.Contains(got, "nightly-2611140300") {
		t.Errorf("untested, %v expire", got)
	}
}

func TestRetentionDeletesBackupsBeyondCountAndAge(t *testing.T) {
	going := func(b *state.Backup) { b.Terminating = true }
	bad := func(b *state.Backup) {
		b.Verification = state.Verification{Phase: dbv1.VerificationFailed, Started: b.Completed}
	}
	cases := map[string]struct {
		retention *dbv1.BackupRetention
		backups   []state.Backup
		change    func(*dbv1.DatabaseCluster)
		want      string
	}{
		"for ever":                              {nil, nights(6), nil, ""},
		"by count":                              {keep(2, 0), nights(4), nil, "nightly-2611180300 nightly-2611190300"},
		"by age":                                {keep(0, 48*time.Hour), nights(4), nil, "nightly-2611180300 nightly-2611190300"},
		"count wants more":                      {keep(3, 10*time.Hour), nights(4), nil, "nightly-2611180300"},
		"age wants more":                        {keep(1, 72*time.Hour), nights(4), nil, "nightly-2611180300"},
		"the oldest expire first":               {keep(1, 0), nights(9), nil, "nightly-2611130300 nightly-2611140300 nightly-2611150300"},
		"a window needs what it names":          {keep(1, 0), nights(5), window(day(0, 4), "orders-nightly-2611170300"), "nightly-2611180300 nightly-2611190300 nightly-2611200300"},
		"a window may need what is new":         {keep(1, 0), nights(5), window(day(1, 3), "orders-nightly-2611170300"), "nightly-2611180300 nightly-2611190300"},
		"a window may need any that is unknown": {keep(1, 0), nights(5), window(day(0, 4)), ""},
		"a window may need any before it is known": {keep(1, 0), nights(5), func(c *dbv1.DatabaseCluster) {
			c.Spec.Backup.Archive = &dbv1.ClusterArchive{WindowHours: 24}
		}, ""},
		"a window may need what is elsewhere until it is over": {keep(1, 0), nights(5), func(c *dbv1.DatabaseCluster) {
			window(day(0, 4), "orders-nightly-2611210300")(c)
			c.Spec.Backup.Archive.WindowHours, c.Status.Recovery.Location = 30, "s3://other/prod/archive"
		}, "nightly-2611170300 nightly-2611180300 nightly-2611190300"},
		"a window may need what has another key until it is over": {keep(1, 0), nights(5), func(c *dbv1.DatabaseCluster) {
			window(day(0, 4), "orders-nightly-2611210300")(c)
			c.Spec.Backup.Archive.WindowHours, c.Spec.Backup.Destination.EncryptionSecretName = 30, "new"
		}, "nightly-2611170300 nightly-2611180300 nightly-2611190300"},
		"an archive without a window needs none": {keep(1, 0), nights(5), func(c *dbv1.DatabaseCluster) {
			window(day(0, 4), "orders-nightly-2611170300")(c)
			c.Spec.Backup.Archive.WindowHours = 0
		}, "nightly-2611170300 nightly-2611180300 nightly-2611190300"},
		"a few at a time":       {keep(1, 0), nights(9, only([]int{8, 7}, going)), nil, "nightly-2611150300"},
		"enough are going":      {keep(1, 0), nights(9, only([]int{8, 7, 6}, going)), nil, ""},
		"failures do not count": {keep(2, 0), nights(5, only([]int{0, 2}, failedBackup)), nil, "nightly-2611170300"},
		"the last failures stay": {nil, nights(7, only([]int{0, 1, 2, 3, 5}, failedBackup)), nil,
			"nightly-2611160300 nightly-2611180300"},
		"however old, the newest complete one stays": {keep(0, time.Hour), nights(3, only([]int{0, 1}, failedBackup)), nil, ""},
		"the newest one that is not bad stays":       {keep(1, 0), nights(4, only([]int{0}, bad), only([]int{1}, provedAt(noon))), nil, "nightly-2611180300 nightly-2611190300"},
		"the newest that was verified stays":         {keep(1, 0), nights(5, only([]int{2, 3}, provedAt(noon))), nil, "nightly-2611170300 nightly-2611180300 nightly-2611200300"},
		"the newest of the schedule that was verified stays beside one by hand": {keep(1, 0), append(nights(4, only([]int{2}, provedAt(noon))),
			made("", day(0, 11), byHand, provedAt(noon))), nil, "nightly-2611180300 nightly-2611200300"},
		"no backup expires while a verification runs":             {keep(1, 0), nights(3, only([]int{2}, func(b *state.Backup) { b.Asked = "please" })), nil, ""},
		"no backup expires after a failed verification":           {keep(1, 0), nights(9, only([]int{6}, provedAt(day(6, 5))), only([]int{0}, bad)), nil, ""},
		"verified in the future, by a clock that was wrong":       {keep(1, 0), nights(3, only([]int{1}, provedAt(day(-300, 5))), only([]int{0}, bad)), nil, ""},
		"one with a destination of its own does not count as any": {keep(1, 0), append(nights(2), made("nightly", day(0, 11), elsewhere)), nil, "nightly-2611200300"},
		"what a new cluster starts with stays":                    {keep(1, 0), nights(3, only([]int{2}, func(b *state.Backup) { b.Read = true })), nil, "nightly-2611200300"},
		"what is unfinished stays":                                {keep(1, 0), nights(3, only([]int{2}, pendingBackup)), nil, "nightly-2611200300"},
		"the last that was verified stays": {keep(1, 0), nights(4, only([]int{2}, func(b *state.Backup) {
			b.Verification = state.Verification{Phase: dbv1.VerificationSucceeded, Started: b.Completed}
		})), func(c *dbv1.DatabaseCluster) {
			c.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Schedule: "0 5 1 1 *"}
		}, "nightly-2611180300 nightly-2611200300"},
		"backups of the previous cluster stay":           {keep(1, 0), nights(3, only([]int{2}, func(b *state.Backup) { b.CreatedFor, b.RanFor = "previous", "previous" })), nil, "nightly-2611200300"},
		"backups with data of the previous cluster stay": {keep(1, 0), nights(3, only([]int{2}, func(b *state.Backup) { b.RanFor = "previous" })), nil, "nightly-2611200300"},
		"those of no schedule stay":                      {keep(1, 0), nights(3, only([]int{2}, byHand)), nil, "nightly-2611200300"},
		"those without a time by the schedule stay":      {keep(1, 0), nights(3, only([]int{2}, func(b *state.Backup) { b.ScheduledAt = metav1.Time{} })), nil, "nightly-2611200300"},
		"those of a schedule that is no more stay":       {keep(1, 0), nights(3, only([]int{2}, func(b *state.Backup) { b.Schedule = "weekly" })), nil, "nightly-2611200300"},
		"complete in the future is young":                {keep(0, time.Hour), nights(3, only([]int{2}, func(b *state.Backup) { b.Completed = metav1.NewTime(day(-9, 3)) })), nil, "nightly-2611200300"},
		"a suspended schedule deletes nothing":           {keep(1, 0), nights(3), func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Schedules[0].Suspend = true }, ""},
		"a paused cluster deletes nothing":               {keep(1, 0), nights(3), func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true }, ""},
		"a hibernated cluster deletes nothing":           {keep(1, 0), nights(3), func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true }, ""},
		"a cluster that is being deleted deletes none":   {keep(1, 0), nights(3), func(c *dbv1.DatabaseCluster) { c.DeletionTimestamp = new(metav1.NewTime(noon)) }, ""},
		"one by hand does not stand in for a schedule's": {keep(0, time.Minute), append(nights(2), made("", day(0, 11), byHand)), nil, "nightly-2611200300"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := backedUp()
			cluster.CreationTimestamp = metav1.NewTime(day(20, 0))
			cluster.Spec.Backup.Schedules[0].Retention = c.retention
			if c.change != nil {
				c.change(cluster)
			}
			if got := strings.Join(expiredNames(For(cluster, seen(t, cluster, c.backups...))), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestADeletionByRetentionNamesTheObjectThatWasSeen(t *testing.T) {
	c := backedUp()
	c.Spec.Backup.Schedules[0].Retention = keep(1, 0)
	want := operation.Target{Kind: dbv1.GroupVersion.WithKind("DatabaseBackup"), Name: "orders-nightly-2611200300", UID: "orders-nightly-2611200300", Version: "7"}.
		Because(`schedule "nightly" no longer retains it`)
	p := For(c, seen(t, c, nights(2)...))
	if len(deleted(p)) != 1 || deleted(p)[0] != want || !p.Operations.Need(operation.LiveRead) {
		t.Errorf("got %+v", deleted(p))
	}
}

// chance returns random lists of backups with equal times, different clocks, failures, verifications and strangers.
func chanceBackups(chance *rand.Rand) []state.Backup {
	roll := func(n int) int { return chance.IntN(n) }
	all := make([]state.Backup, roll(12))
	for i := range all {
		at := day(roll(6), roll(2)*3)
		b := made([]string{"nightly", "hourly", "", "gone"}[roll(4)], at)
		b.Name = fmt.Sprintf("b%02d", i)
		b.UID = types.UID(b.Name)
		b.Created = metav1.NewTime(at.Add(time.Duration(roll(3)) * time.Hour))
		b.Completed = metav1.NewTime(at.Add(time.Duration(roll(9)-4) * 24 * time.Hour))
		b.CreatedFor = []types.UID{uid, uid, uid, "previous", ""}[roll(5)]
		b.RanFor = []types.UID{uid, uid, uid, "previous", ""}[roll(5)]
		of([]string{"a/1", "a/2", "a"}[roll(3)])(&b)
		b.Terminating = roll(8) == 0
		b.Elsewhere = roll(8) == 0
		switch roll(8) {
		case 0:
			failedBackup(&b)
		case 1:
			pendingBackup(&b)
		case 2:
			b.Verification = state.Verification{Phase: dbv1.VerificationFailed, Started: b.Created}
		case 3, 4:
			provedAt(at.Add(day(0, 0).Sub(day(1, 0))))(&b)
		}
		all[i] = b
	}
	return all
}

func TestRetentionNeverDeletesTheNewestGoodBackup(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 4))
	sum, base := 0, seen(t, backedUp())
	for range 9000 {
		c := backedUp(dbv1.BackupSchedule{Name: "nightly", Schedule: "0 3 * * *", Retention: keep(1, 0)},
			dbv1.BackupSchedule{Name: "hourly", Schedule: "0 * * * *", Retention: keep(0, time.Minute)})
		c.CreationTimestamp = metav1.NewTime(day(30, 0))
		observed := base
		observed.Backups = slices.DeleteFunc(chanceBackups(chance), func(b state.Backup) bool { return !b.Of(c) })
		p := For(c, observed)
		left := slices.DeleteFunc(slices.Clone(observed.Backups), func(b state.Backup) bool {
			return slices.ContainsFunc(deleted(p), func(r operation.Removal) bool { return r.UID == b.UID })
		})
		sum += len(deleted(p))
		if last, verified := observed.LastVerified(); len(deleted(p)) > 0 && verified && last.Bad() {
			t.Fatalf("%v expire while the last verification failed, of %s", deleted(p), last.Name)
		}
		after := base
		after.Backups = left
		for what, holds := range map[string]func(state.Backup) bool{
			"complete":                         state.Backup.Complete,
			"not bad":                          func(b state.Backup) bool { return b.Complete() && !b.Bad() },
			"verified":                         state.Backup.Good,
			"complete, of the first database":  func(b state.Backup) bool { return b.Complete() && b.Data[0].Identity == "1" },
			"verified, of the second database": func(b state.Backup) bool { return b.Good() && b.Data[0].Identity == "2" },
		} {
			before, had := observed.Newest(holds)
			now, has := after.Newest(holds)
			if had != has || before != now {
				t.Fatalf("the newest %s backup was %s, and is %s, when of %+v these go: %v", what, before.Name, now.Name, observed.Backups, deleted(p))
			}
			early, _ := observed.Last(completed, holds)
			late, _ := after.Last(completed, holds)
			if !early.Completed.Equal(&late.Completed) {
				t.Fatalf("the %s backup that was complete last is gone", what)
			}
		}
		for _, b := range observed.Backups {
			gone := !slices.ContainsFunc(left, func(l state.Backup) bool { return l.UID == b.UID })
			if gone && (b.CreatedFor != uid || b.RanFor != uid && b.RanFor != "" || b.Schedule == "" || b.Schedule == "gone" || !b.Phase.Finished()) {
				t.Fatalf("%+v is not the schedule's to delete", b)
			}
		}
		for _, schedule := range []string{"nightly", "hourly"} {
			if !anchor(schedule, c, observed).Equal(anchor(schedule, c, after)) {
				t.Fatalf("the anchor of %s is gone: a time that was done with would come again", schedule)
			}
		}
	}
	if sum < 400 {
		t.Errorf("only %d backups were deleted: the test sees nothing", sum)
	}
}
