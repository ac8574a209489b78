/*
SPDX-License-Identifier: Apache-2.0
*/

package restoring_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/restoring"
	"github.com/dbcluster/databasecluster-operator/internal/testing/golden"
)

var (
	zone = time.FixedZone("CET", 3600)
	now  = time.Date(2026, 11, 21, 15, 5, 0, 0, zone) // 14:05 in UTC
)

func at(d time.Duration) *metav1.Time { return new(metav1.NewTime(now.Add(-d))) }

func TestAMomentIsATimeATimeOfDayOrADurationAgo(t *testing.T) {
	for given, want := range map[string]string{
		"2026-11-21T14:00:00Z":      "2026-11-21T14:00:00Z",
		"2026-11-21T14:00:00+02:00": "2026-11-21T12:00:00Z",
		"2026-11-20 08:30":          "2026-11-20T07:30:00Z",
		"2026-11-20":                "2026-11-19T23:00:00Z",
		"15:04":                     "2026-11-21T14:04:00Z",
		"15:06":                     "2026-11-20T14:06:00Z", // it has not been 15:06 today
		"09:00:30":                  "2026-11-21T08:00:30Z",
		"10m":                       "2026-11-21T13:55:00Z",
		"1h30m":                     "2026-11-21T12:35:00Z",
		"2d":                        "2026-11-19T14:05:00Z",
		"1d12h":                     "2026-11-20T02:05:00Z",
		"2026-11-21T14:06:00Z":      "is in the future: it is 2026-11-21T15:05:00+01:00 now",
		"-10m":                      "is no time",
		"yesterday":                 "is no time: use RFC 3339",
		"xd":                        "is no time",
		"25:00":                     "is no time",
	} {
		m, err := restoring.ParseMoment(given, now)
		got := m.At.Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
	if m, err := restoring.ParseMoment("latest", now); err != nil || !m.Latest {
		t.Errorf("got %+v, %v", m, err)
	}
	if m, err := restoring.ParseMoment("", now); err != nil || m != (restoring.Moment{}) {
		t.Errorf("got %+v, %v", m, err)
	}
}

// archived is a cluster with an archive of two days with a gap, and a backup in each part.
func archived(edits ...func(*restoring.Facts)) restoring.Facts {
	cluster := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "1"}}
	cluster.Spec.Backup = &dbv1.ClusterBackup{Archive: &dbv1.ClusterArchive{}}
	cluster.Status.Recovery = &dbv1.ClusterRecoveryStatus{Oldest: at(48 * time.Hour), Newest: at(time.Minute), Ranges: []dbv1.RecoveryRange{
		{Oldest: *at(48 * time.Hour), Newest: *at(30 * time.Hour)}, {Oldest: *at(12 * time.Hour), Newest: *at(time.Minute)},
	}}
	f := restoring.Facts{Cluster: cluster, Now: now, Backups: []dbv1.DatabaseBackup{backup("older", 48*time.Hour), backup("newer", 12*time.Hour)}}
	for _, edit := range edits {
		edit(&f)
	}
	return f
}

// backup is a complete backup of orders in the archive.
func backup(name string, age time.Duration) dbv1.DatabaseBackup {
	b := dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: dbv1.DatabaseBackupSpec{Cluster: "orders"}}
	b.Status = dbv1.DatabaseBackupStatus{
		Phase: dbv1.BackupCompleted, ClusterUID: "1", CompletionTime: at(age), Bytes: 5 << 30, Duration: "2m30s",
		Streams: []dbv1.BackupStream{{CompletionTime: at(age + time.Second), Facts: map[string]dbv1.FactValue{"archiveFile": "x"}}},
	}
	return b
}

func ephemeral(f *restoring.Facts) { f.Cluster.Spec.Storage.Ephemeral = new(true) }
func deleting(f *restoring.Facts)  { f.Cluster.DeletionTimestamp = at(0) }
func noArchive(f *restoring.Facts) { f.Cluster.Spec.Backup.Archive = nil }
func noWindow(f *restoring.Facts) {
	f.Cluster.Status.Recovery = &dbv1.ClusterRecoveryStatus{CheckedAt: *at(0)}
}
func unread(f *restoring.Facts) {
	f.Cluster.Status.Recovery = &dbv1.ClusterRecoveryStatus{CheckedAt: *at(13 * time.Hour)}
}
func neverRead(f *restoring.Facts) { f.Cluster.Status.Recovery = nil }
func noBackups(f *restoring.Facts) { f.Backups = nil }
func unverified(f *restoring.Facts) {
	f.Backups[1].Status.Verification = &dbv1.BackupVerification{Phase: dbv1.VerificationFailed, Message: "no answer"}
}
func unarchived(f *restoring.Facts) { f.Backups[1].Status.Streams[0].Facts = nil }
func ofOther(f *restoring.Facts)    { f.Backups[1].Status.ClusterUID = "2" }
func running(f *restoring.Facts)    { f.Backups[1].Status.Phase = dbv1.BackupRunning }
func unusable(f *restoring.Facts)   { f.Cluster.Status.Recovery.UnusableBackups = []string{"newer"} }
func replaced(f *restoring.Facts) {
	f.Cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{RestoreRef: &dbv1.ReplacementRestoreRef{Name: "before"}, VolumeClaimTemplate: "data-0abc"}
	f.Backups[0].Status.VolumeClaimTemplate = "data-0abc"
}

func TestTheBackupOfARestoreIsChosenOrRefusedWithASentence(t *testing.T) {
	moment := func(d time.Duration) restoring.Moment { return restoring.Moment{At: now.Add(-d)} }
	latest := restoring.Moment{Latest: true}
	for name, c := range map[string]struct {
		facts restoring.Facts
		ask   restoring.Ask
		want  string
	}{
		"the newest backup":                      {archived(), restoring.Ask{}, "newer"},
		"the newest verified one":                {archived(unverified), restoring.Ask{}, "older"},
		"not of a previous cluster":              {archived(ofOther), restoring.Ask{}, "older"},
		"not one that runs":                      {archived(running), restoring.Ask{}, "older"},
		"of the volumes in use":                  {archived(replaced), restoring.Ask{Preview: true}, "older"},
		"a named one":                            {archived(), restoring.Ask{Backup: "older"}, "older"},
		"a named one that failed":                {archived(unverified), restoring.Ask{Backup: "newer"}, "newer"},
		"a named one of a previous cluster":      {archived(ofOther), restoring.Ask{Backup: "newer"}, "newer"},
		"a previous cluster's, with --at":        {archived(ofOther), restoring.Ask{Backup: "newer", Moment: moment(time.Hour)}, "DatabaseBackup newer is of a previous cluster of the same name (UID 2, now 1)"},
		"a previous cluster's, latest":           {archived(ofOther), restoring.Ask{Backup: "newer", Moment: latest}, "leave out --at"},
		"an unknown one":                         {archived(), restoring.Ask{Backup: "x"}, "DatabaseCluster orders has no DatabaseBackup x"},
		"a named one that runs":                  {archived(running), restoring.Ask{Backup: "newer"}, "DatabaseBackup newer is not complete"},
		"only one that failed":                   {archived(unverified, func(f *restoring.Facts) { f.Backups = f.Backups[1:] }), restoring.Ask{}, "the verification of DatabaseBackup newer failed"},
		"no backup":                              {archived(noBackups), restoring.Ask{}, "kubectl dbc backup orders creates one"},
		"a moment in the window":                 {archived(), restoring.Ask{Moment: moment(time.Hour)}, "newer"},
		"a moment in the older window":           {archived(), restoring.Ask{Moment: moment(40 * time.Hour)}, "older"},
		"a moment of this minute":                {archived(), restoring.Ask{Moment: moment(time.Second)}, "newer"},
		"a moment in the gap":                    {archived(), restoring.Ask{Moment: moment(20 * time.Hour)}, "2026-11-20T18:05:00Z cannot be recovered: the archive covers 2026-11-19T14:05:00Z to 2026-11-20T08:05:00Z, and 2026-11-21T02:05:00Z to 2026-11-21T14:04:00Z"},
		"a moment before the archive":            {archived(), restoring.Ask{Moment: moment(72 * time.Hour)}, "cannot be recovered"},
		"a moment without an archive":            {archived(noArchive), restoring.Ask{Moment: moment(time.Hour)}, "has no archive (spec.backup.archive)"},
		"a moment before a first backup":         {archived(noWindow), restoring.Ask{Moment: moment(time.Hour)}, "no time of DatabaseCluster orders can be recovered yet"},
		"a moment without a usable backup":       {archived(unarchived, func(f *restoring.Facts) { f.Backups = f.Backups[1:] }), restoring.Ask{Moment: moment(time.Hour)}, "no complete backup of DatabaseCluster orders began in its archive"},
		"the end of the archive":                 {archived(), restoring.Ask{Moment: latest}, "newer"},
		"a backup after the moment":              {archived(), restoring.Ask{Moment: moment(40 * time.Hour), Backup: "newer"}, "DatabaseBackup newer ended at 2026-11-21T02:05:00Z, after that moment"},
		"a backup outside of the archive":        {archived(unarchived), restoring.Ask{Moment: moment(time.Hour), Backup: "newer"}, "did not begin in the archive"},
		"a deleted cluster":                      {archived(deleting), restoring.Ask{Preview: true}, "is being deleted"},
		"ephemeral storage":                      {archived(ephemeral), restoring.Ask{}, "restore with --preview"},
		"a preview of ephemeral storage":         {archived(ephemeral), restoring.Ask{Preview: true}, "newer"},
		"a second replacement":                   {archived(replaced), restoring.Ask{}, "DatabaseRestore before has replaced the data"},
		"not one that begins no recovery":        {archived(unusable), restoring.Ask{Moment: latest}, "older"},
		"an archive not read since the backup":   {archived(unread), restoring.Ask{Moment: moment(time.Minute)}, "newer"},
		"its end":                                {archived(unread), restoring.Ask{Moment: latest}, "newer"},
		"one that was never read":                {archived(neverRead), restoring.Ask{Moment: latest}, "newer"},
		"one that was never read, and no backup": {archived(neverRead, noBackups), restoring.Ask{Moment: latest}, "needs a complete backup"},
		"such a one as it is":                    {archived(unusable), restoring.Ask{}, "newer"},
		"a named one that begins none":           {archived(unusable), restoring.Ask{Moment: latest, Backup: "newer"}, "newer"},
	} {
		t.Run(name, func(t *testing.T) {
			choice, err := restoring.Choose(c.facts, c.ask)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = choice.Restore.Spec.Source.BackupRef.Name
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if err == nil && (choice.Risk == "") != c.ask.Preview {
				t.Errorf("the risk is %q", choice.Risk)
			}
		})
	}
}

// The user reads this before anything is created.
func TestARestoreIsDescribedBeforeItBegins(t *testing.T) {
	measured := func(f *restoring.Facts) {
		f.Cluster.Status.Backup = &dbv1.ClusterBackupStatus{LastRecoveryDurationSeconds: 250}
	}
	checked := func(f *restoring.Facts) {
		f.Backups[1].Status.Verification = &dbv1.BackupVerification{Phase: dbv1.VerificationSucceeded, StartTime: at(time.Hour), CompletionTime: at(58 * time.Minute)}
	}
	for name, c := range map[string]struct {
		facts restoring.Facts
		ask   restoring.Ask
	}{
		"replace":    {archived(measured), restoring.Ask{Moment: restoring.Moment{At: now.Add(-time.Hour)}}},
		"preview":    {archived(checked), restoring.Ask{Preview: true, Name: "yesterday"}},
		"latest":     {archived(), restoring.Ask{Preview: true, Moment: restoring.Moment{Latest: true}}},
		"previous":   {archived(ofOther), restoring.Ask{Backup: "newer"}},
		"unread":     {archived(unread), restoring.Ask{Moment: restoring.Moment{At: now.Add(-20 * time.Second)}}},
		"unverified": {archived(unverified), restoring.Ask{Backup: "newer", Moment: restoring.Moment{At: now}}},
	} {
		t.Run(name, func(t *testing.T) {
			choice, err := restoring.Choose(c.facts, c.ask)
			if err != nil {
				t.Fatal(err)
			}
			manifest, err := yaml.Marshal(choice.Restore)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, name, strings.Join(append(choice.Lines, choice.Risk, string(manifest)), "\n"))
		})
	}
}

func TestTheNameOfARestoreHasAtMost32Characters(t *testing.T) {
	f := archived()
	for cluster, want := range map[string]string{"orders": "orders-261121-140500", "a-cluster-with-a-very-long-name": "a-cluster-with-a-v-261121-140500", "a-cluster-with-a---long-name": "a-cluster-with-a-261121-140500"} {
		f.Cluster.Name = cluster
		for i := range f.Backups {
			f.Backups[i].Spec.Cluster = cluster
		}
		choice, err := restoring.Choose(f, restoring.Ask{})
		if err != nil || choice.Restore.Name != want || len(choice.Restore.Name) > 32 {
			t.Errorf("got %+v, %v; want %s", choice.Restore, err, want)
		}
	}
}
