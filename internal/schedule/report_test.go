/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// completeAt returns a backup that completed so long before now.
func completeAt(name string, ago time.Duration) state.Backup {
	at := metav1.NewTime(now.Add(-ago))
	return state.Backup{Name: name, Phase: dbv1.BackupCompleted, Created: at, Completed: at, Bytes: 42}
}

// identified returns such a backup of a database.
func identified(name string, ago time.Duration, database string) state.Backup {
	b := completeAt(name, ago)
	b.Members, b.Data[0], b.Lineage = 1, state.Data{Volume: "a", Identity: database}, "uid"
	return b
}

// other is such a backup of another volume.
func other(b state.Backup) state.Backup {
	b.Data[0].Volume, b.Lineage = "b", "uid-0restored"
	return b
}

// released is the status after the DatabaseRestore was deleted: the members use the volumes of a template.
func released(template string) func(*report) {
	return func(p *report) {
		p.Cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: template, PastRestores: []string{"first", "last"}}
	}
}

// replacing is a DatabaseRestore while the members use the volumes of a template.
func replacing(template string) func(*report) {
	return func(p *report) {
		p.Replacement = &state.Replacement{Restore: dbv1.ReplacementRestoreRef{Name: "back"}}
		p.Cluster.Status.Replacement = &dbv1.ClusterReplacementStatus{VolumeClaimTemplate: template}
	}
}

func failedAt(name string, ago time.Duration) state.Backup {
	return state.Backup{Name: name, Phase: dbv1.BackupFailed, Created: metav1.NewTime(now.Add(-ago)), Failure: "the bucket is not there"}
}

func verified(b state.Backup, phase dbv1.BackupVerificationPhase, ago time.Duration) state.Backup {
	started := metav1.NewTime(now.Add(-ago))
	b.Verification = state.Verification{Phase: phase, Started: started, Ended: metav1.NewTime(started.Add(time.Minute)), Message: "it did not answer"}
	return b
}

var (
	then = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	now  = metav1.NewTime(then.Add(time.Hour))
)

// reported is the status after a pass.
func reported(r *report) dbv1.DatabaseClusterStatus {
	status := r.Cluster.Status.DeepCopy()
	for _, condition := range r.write(subject.Executed{}, status) {
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return *status
}

// backed returns the report of a cluster that was created an hour ago, with a daily backup schedule.
func backed(backups ...state.Backup) *report {
	p := &report{Situation: &situation.Situation{Cluster: &dbv1.DatabaseCluster{}, Observed: state.Observed{At: now.Time}}}
	p.Cluster.CreationTimestamp, p.Cluster.UID = then, "uid"
	p.Cluster.Spec.Backup = &dbv1.ClusterBackup{UnhealthyAfter: &metav1.Duration{Duration: 24 * time.Hour}}
	p.Backups = backups
	return p
}

func TestBackupHealthyReportsTheAgeOfTheNewestBackup(t *testing.T) {
	cases := map[string]struct {
		backups []state.Backup
		change  func(*report)
		want    string
		words   string
	}{
		"fresh": {[]state.Backup{completeAt("b", time.Hour)}, nil, "True BackupFresh", "DatabaseBackup b completed at 2026-01-01T00:00:00Z"},
		"fresh, whatever became of the last": {[]state.Backup{completeAt("b", time.Hour), failedAt("c", 0)}, nil,
			"True BackupFresh", "since then DatabaseBackup c failed: the bucket is not there"},
		"fresh, with another database than before": {[]state.Backup{identified("a", 3*time.Hour, "1"), identified("b", 2*time.Hour, "1"), identified("c", time.Hour, "2")}, nil,
			"True DataReplaced", "DatabaseBackup c has other data than DatabaseBackup b, completed at 2025-12-31T23:00:00Z"},
		"without a maximum age, as well": {[]state.Backup{identified("b", 2*time.Hour, "1"), identified("c", time.Hour, "2")},
			func(p *report) { p.Cluster.Spec.Backup.UnhealthyAfter = nil }, "True DataReplaced", "DatabaseBackup c has other data than DatabaseBackup b"},
		"of data that a DatabaseRestore replaced": {[]state.Backup{identified("b", time.Hour, "1")}, replacing("data-0restored"),
			"False RestoredSince", "no complete backup has the present data: DatabaseRestore back replaced that of DatabaseBackup b"},
		"fresh, after a DatabaseRestore replaced the data": {[]state.Backup{identified("b", 2*time.Hour, "1"), other(identified("c", time.Hour, "1"))}, replacing("data-0restored"),
			"True DataReplaced", "completed at 2025-12-31T23:00:00Z: DatabaseRestore back replaced the data. To restore"},
		"of replaced data, after the DatabaseRestore is deleted": {[]state.Backup{identified("b", time.Hour, "1")}, released("data-0restored"),
			"False RestoredSince", "DatabaseRestore last replaced that of DatabaseBackup b. Create a backup, if none is due soon"},
		"of restored data, after an undo": {[]state.Backup{identified("b", 2*time.Hour, "1"), other(identified("c", time.Hour, "1"))}, replacing("data"),
			"False RestoredSince", "the newest complete backup, DatabaseBackup c, does not have the present data: since then, DatabaseRestore back gave the " +
				"members other volumes. The newest backup of these is DatabaseBackup b, completed at 2025-12-31T23:00:00Z. Create a backup"},
		"of restored data, after an undo and a deletion": {[]state.Backup{other(identified("c", time.Hour, "1"))}, released("data"),
			"False RestoredSince", "DatabaseRestore last replaced that of DatabaseBackup c"},
		"of restored data, without a maximum age": {[]state.Backup{other(identified("c", time.Hour, "1"))}, func(p *report) {
			released("data")(p)
			p.Cluster.Spec.Backup.UnhealthyAfter = nil
		}, "False RestoredSince", "DatabaseRestore last replaced"},
		"fresh, of restored data, after the DatabaseRestore is deleted": {[]state.Backup{identified("b", 2*time.Hour, "1"), other(identified("c", time.Hour, "1"))}, released("data-0restored"),
			"True DataReplaced", "DatabaseRestore last replaced the data. To restore"},
		"during a restore":                           {[]state.Backup{identified("b", time.Hour, "1")}, replacing("data"), "True BackupFresh", "DatabaseBackup b"},
		"too old, with another database than before": {[]state.Backup{identified("b", 26*time.Hour, "1"), identified("c", 25*time.Hour, "2")}, nil, "False BackupOverdue", "DatabaseBackup c"},
		"too old": {[]state.Backup{completeAt("b", 24*time.Hour)}, nil, "False BackupOverdue", "younger than 24h0m0s"},
		"nearly too old": {[]state.Backup{completeAt("b", 24*time.Hour-time.Second)}, nil,
			"True BackupFresh", "DatabaseBackup b"},
		"none yet": {nil, nil, "Unknown NoBackup", "the first backup must complete by 2026-01-02T00:00:00Z"},
		"none yet, and one that failed": {[]state.Backup{failedAt("c", 0)}, nil, "Unknown NoBackup",
			"since then DatabaseBackup c failed"},
		"none for too long": {nil, func(p *report) { p.Cluster.CreationTimestamp = metav1.NewTime(now.AddDate(0, 0, -2)) },
			"False BackupOverdue", "no complete backup exists"},
		"the newest is going": {[]state.Backup{completeAt("b", 30*time.Hour), func() state.Backup {
			b := completeAt("c", 0)
			b.Terminating = true
			return b
		}()}, nil, "False BackupOverdue", "DatabaseBackup b"},
		"a schedule that cannot be read": {[]state.Backup{completeAt("b", time.Hour)}, func(p *report) { p.plan.Invalid = `schedule "x" makes no backups` },
			"False InvalidSchedule", `schedule "x"`},
		"a name that a schedule needs is taken": {[]state.Backup{completeAt("b", time.Hour)}, func(p *report) { p.plan.Taken = "DatabaseBackup x exists" },
			"False BackupNameConflict", "DatabaseBackup x exists"},
		"without a maximum age, the last succeeded": {[]state.Backup{failedAt("b", time.Hour), completeAt("c", time.Minute)},
			func(p *report) { p.Cluster.Spec.Backup.UnhealthyAfter = nil }, "True BackupFresh", "DatabaseBackup c"},
		"without a maximum age, the last failed": {[]state.Backup{completeAt("b", time.Hour), failedAt("c", time.Minute), {Name: "d", Phase: dbv1.BackupRunning, Created: now}},
			func(p *report) { p.Cluster.Spec.Backup.UnhealthyAfter = nil }, "False BackupFailed", "DatabaseBackup c failed: the bucket is not there"},
		"without a maximum age, none": {nil, func(p *report) { p.Cluster.Spec.Backup.UnhealthyAfter = nil }, "Unknown NoBackup", "no backup has finished yet"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := backed(c.backups...)
			if c.change != nil {
				c.change(p)
			}
			is := meta.FindStatusCondition(reported(p).Conditions, dbv1.ConditionBackupHealthy)
			if is == nil || string(is.Status)+" "+is.Reason != c.want || !strings.Contains(is.Message, c.words) {
				t.Errorf("got %+v, want %s %q", is, c.want, c.words)
			}
		})
	}
}

func TestBackupVerifiedReportsTheLastVerification(t *testing.T) {
	good := verified(completeAt("b", 9*time.Hour), dbv1.VerificationSucceeded, 3*time.Hour)
	bad := verified(completeAt("c", 5*time.Hour), dbv1.VerificationFailed, 2*time.Hour)
	running := verified(completeAt("d", time.Hour), dbv1.VerificationRunning, time.Minute)
	condition := func(status metav1.ConditionStatus, reason string) []metav1.Condition {
		return []metav1.Condition{{Type: dbv1.ConditionBackupVerified, Status: status, Reason: reason, Message: "as it was"}}
	}
	cases := map[string]struct {
		backups []state.Backup
		before  []metav1.Condition
		invalid string
		want    string
		words   string
	}{
		"never":                     {[]state.Backup{completeAt("b", 0)}, nil, "", "Unknown NotVerified", "no existing backup has been verified yet"},
		"the first runs":            {[]state.Backup{running}, condition(metav1.ConditionUnknown, dbv1.ReasonNotVerified), "", "Unknown VerificationRunning", "the first verification"},
		"it answered":               {[]state.Backup{good}, nil, "", "True Verified", "DatabaseBackup b was restored at 2025-12-31T22:01:00Z; the restore took 1m0s"},
		"the last did not":          {[]state.Backup{good, bad}, nil, "", "False VerificationFailed", "the restore of DatabaseBackup c failed at 2025-12-31T23:01:00Z: it did not answer. No backup expires until a verification succeeds"},
		"another runs, of the same": {[]state.Backup{running}, condition(metav1.ConditionTrue, dbv1.ReasonVerified), "", "True Verified", "as it was"},
		"another runs":              {[]state.Backup{good, bad, running}, condition(metav1.ConditionFalse, dbv1.ReasonVerificationFailed), "", "False VerificationFailed", "as it was"},
		"cannot be read":            {[]state.Backup{good}, nil, "no such zone", "False InvalidSchedule", "no such zone"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := backed(c.backups...)
			p.Cluster.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{}
			p.Cluster.Status.Conditions, p.plan.VerifyInvalid = c.before, c.invalid
			is := meta.FindStatusCondition(reported(p).Conditions, dbv1.ConditionBackupVerified)
			if is == nil || string(is.Status)+" "+is.Reason != c.want || !strings.Contains(is.Message, c.words) {
				t.Errorf("got %+v, want %s %q", is, c.want, c.words)
			}
		})
	}
}

func TestBackupConditionsAreRemovedWhenTheSpecAsksForNoBackups(t *testing.T) {
	p := backed(completeAt("b", time.Hour))
	p.Cluster.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{}
	p.Cluster.Status = reported(p)
	has := func(kind string) bool { return meta.FindStatusCondition(p.Cluster.Status.Conditions, kind) != nil }
	if !has(dbv1.ConditionBackupHealthy) || !has(dbv1.ConditionBackupVerified) || p.Cluster.Status.Backup == nil {
		t.Fatalf("got %+v", p.Cluster.Status)
	}
	p.Cluster.Spec.Backup.Verification = nil
	p.Cluster.Status = reported(p)
	if !has(dbv1.ConditionBackupHealthy) || has(dbv1.ConditionBackupVerified) {
		t.Errorf("without verify: %s", fmt.Sprint(p.Cluster.Status.Conditions))
	}
	p.Backups = []state.Backup{verified(completeAt("b", time.Hour), dbv1.VerificationFailed, time.Minute)}
	p.Cluster.Status = reported(p)
	if is := meta.FindStatusCondition(p.Cluster.Status.Conditions, dbv1.ConditionBackupVerified); is == nil || is.Status != metav1.ConditionFalse {
		t.Errorf("while one that was asked for by hand failed, and keeps backups from expiring: %s", fmt.Sprint(p.Cluster.Status.Conditions))
	}
	p.Backups[0].Verification.Phase = dbv1.VerificationRunning
	p.Cluster.Status = reported(p)
	if is := meta.FindStatusCondition(p.Cluster.Status.Conditions, dbv1.ConditionBackupVerified); is == nil || is.Status != metav1.ConditionFalse {
		t.Errorf("while it is tried again: %s", fmt.Sprint(p.Cluster.Status.Conditions))
	}
	p.Cluster.Spec.Backup, p.Backups = nil, nil
	p.Cluster.Status = reported(p)
	if has(dbv1.ConditionBackupHealthy) || p.Cluster.Status.Backup != nil {
		t.Errorf("without backups: %s", fmt.Sprint(p.Cluster.Status.Conditions))
	}
}

func TestStatusNamesTheNewestBackupsAndTheNextTime(t *testing.T) {
	good := verified(completeAt("b", 9*time.Hour), dbv1.VerificationSucceeded, 3*time.Hour)
	p := backed(good, completeAt("c", time.Hour), failedAt("d", 0))
	p.plan.Next = now.Add(time.Hour)
	got := reported(p).Backup
	if got.LastCompletedBackup != "c" || !got.LastCompletionTime.Equal(&then) || got.LastCompletedBytes != 42 ||
		got.LastVerifiedBackup != "b" || got.LastVerificationTime.Sub(now.Time) != time.Minute-3*time.Hour || !got.NextScheduleTime.Time.Equal(p.plan.Next) {
		t.Errorf("got %+v", got)
	}
	p.Cluster.Status.Backup = got
	p.Backups[0].Verification = state.Verification{Phase: dbv1.VerificationRunning, Started: now}
	if again := reported(p).Backup; again.LastVerifiedBackup != "b" || !again.LastVerificationTime.Equal(got.LastVerificationTime) {
		t.Errorf("while it is tried again: %+v", again)
	}
	p.Backups[0].Verification = state.Verification{Phase: dbv1.VerificationFailed, Started: now}
	if failed := reported(p).Backup; failed.LastVerifiedBackup != "" {
		t.Errorf("after it failed: %+v", failed)
	}
}

func TestStatusHasTheLastRecoveriesOfCopies(t *testing.T) {
	recovered := func(name string, ago time.Duration, r state.Recovery) state.Backup {
		b := verified(completeAt(name, 9*time.Hour), dbv1.VerificationSucceeded, ago)
		b.Verification.Recovery = r
		return b
	}
	newest := recovered("b", 3*time.Hour, state.Recovery{Target: dbv1.RecoverNewest, To: now, Took: 90, Lag: 7, LagKnown: true})
	random := recovered("c", 2*time.Hour, state.Recovery{Target: dbv1.RecoverRandom, To: now, Took: 60})
	p := backed(newest, random, verified(completeAt("d", time.Hour), dbv1.VerificationSucceeded, time.Hour))
	p.Cluster.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Recover: dbv1.RecoverAlternate}
	got := reported(p).Backup
	if !got.LastRecoveryTime.Equal(&random.Verification.Ended) || got.LastRecoveryTarget != dbv1.RecoverRandom || got.LastRecoveryDurationSeconds != 60 ||
		got.LastRecoveryLagSeconds == nil || *got.LastRecoveryLagSeconds != 7 {
		t.Errorf("got %+v", got)
	}
	p.Cluster.Status.Backup, p.Backups = got, nil
	if kept := reported(p).Backup; !kept.LastRecoveryTime.Equal(got.LastRecoveryTime) || *kept.LastRecoveryLagSeconds != 7 || kept.LastRecoveryDurationSeconds != 60 {
		t.Errorf("after the backups have expired: %+v", kept)
	}
	p.Cluster.Spec.Backup.Verification.Recover = ""
	if gone := reported(p).Backup; gone.LastRecoveryTime != nil || gone.LastRecoveryLagSeconds != nil {
		t.Errorf("after the spec asks for none: %+v", gone)
	}
	p.Backups = []state.Backup{random}
	if is := meta.FindStatusCondition(reported(p).Conditions, dbv1.ConditionBackupVerified); !strings.HasSuffix(is.Message, "the restore took 1m0s, with the recovery to "+moment(now)) {
		t.Errorf("the condition is %+v", is)
	}
}
