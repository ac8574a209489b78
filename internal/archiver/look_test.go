/*
SPDX-License-Identifier: Apache-2.0
*/

package archiver_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/archiver"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// working are the facts of an archive that has worked for a time.
func working(t *testing.T, c *dbv1.DatabaseCluster, since time.Duration) archiver.Facts {
	t.Helper()
	facts := archiver.Facts{Image: "operator:1", Deployment: &appsv1.Deployment{}}
	rendered := archiver.Render(seen(t, c, facts), facts).Object.Object
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(rendered, facts.Deployment); err != nil {
		t.Fatal(err)
	}
	facts.Pod = &state.Member{Name: "orders-archive-1", Ready: true, ReadySince: plans.Ago(since)}
	return facts
}

// started is the Job that a pass creates; "" for none.
func started(t *testing.T, c *dbv1.DatabaseCluster, facts archiver.Facts, backups ...state.Backup) (name string, again time.Duration) {
	t.Helper()
	d := archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups = backups }))
	for _, o := range d.Operations {
		if create, is := o.(operation.Create); is {
			name = create.Objects[0].Name()
		}
	}
	return name, d.RequeueAfter
}

func complete(uid string, ago time.Duration) state.Backup {
	return state.Backup{Name: uid, UID: types.UID(uid), Phase: dbv1.BackupCompleted, Completed: plans.Ago(ago)}
}

func TestTheDestinationIsReadOnceForEachBackup(t *testing.T) {
	c := archived()
	if name, again := started(t, c, working(t, c, 20*time.Second)); name != "" || again != 40*time.Second {
		t.Errorf("an archive that has just begun: %q, again in %s", name, again)
	}
	facts := working(t, c, time.Hour)
	if name, _ := started(t, c, facts); !strings.HasPrefix(name, "orders-recovery-") {
		t.Fatalf("%q", name)
	}
	facts.Looked, facts.Look = true, jobs.Job{Name: "j", Succeeded: true}
	facts.Occasion = occasionOf(c, facts) + ", deletes log"
	runs := func(facts archiver.Facts, backups ...state.Backup) string {
		d := archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups = backups }))
		return operation.Describe(d.Operations)
	}
	const again = "delete Job j: the operator reads the destination again"
	if got := runs(facts); got != "" {
		t.Errorf("it was read: %q", got)
	}
	if got := runs(facts, complete("b", time.Minute)); got != again {
		t.Errorf("after a backup: %q", got)
	}
	since := facts
	since.Pod = &state.Member{Name: "orders-archive-1", Ready: true, ReadySince: plans.Ago(2 * time.Minute)}
	if got := runs(since); got != again {
		t.Errorf("after a time without a working archive: %q", got)
	}
	since.Look = jobs.Job{Name: "j", Active: true}
	if got := runs(since); got != "" {
		t.Errorf("a Job that runs ends first: %q", got)
	}
	since.Pod.Ready = false
	if got := runs(since); got != "" {
		t.Errorf("an archive that does not work: %q", got)
	}
}

// The archive may be behind for hours, for example after a bucket was away, and nothing else starts another look.
func TestADestinationThatLackedLogOfTheNewestBackupIsReadAgain(t *testing.T) {
	c := archived()
	facts := working(t, c, time.Hour)
	facts.Looked, facts.Occasion = true, occasionOf(c, facts)+", deletes log"
	for ended, want := range map[time.Duration]string{
		9 * time.Minute:  "",
		10 * time.Minute: "delete Job j: the operator reads the destination again",
	} {
		facts.Look = found(true, "")
		facts.Look.EndTime = plans.Ago(ended)
		if whole := archiver.Subject.Decide(seen(t, c, facts)); len(whole.Operations) > 0 || whole.RequeueAfter != 24*time.Hour-ended {
			t.Errorf("with all log: %q, again in %s", operation.Describe(whole.Operations), whole.RequeueAfter)
		}
		facts.Look.Result.Recoverable.Current = false
		d := archiver.Subject.Decide(seen(t, c, facts))
		if got := operation.Describe(d.Operations); got != want || want == "" && d.RequeueAfter != time.Minute {
			t.Errorf("after %s: %q, again in %s", ended, got, d.RequeueAfter)
		}
	}
}

// occasionOf is the occasion of a Job that has seen some backups.
func occasionOf(c *dbv1.DatabaseCluster, facts archiver.Facts, backups ...string) string {
	return fmt.Sprintf("%s: %d hours, backups %s, archive since %s",
		archiver.Location(c), c.Spec.Backup.Archive.WindowHours, objects.Hash(backups), facts.Pod.ReadySince.UTC().Format(time.RFC3339))
}

func TestLogIsDeletedOnlyWhenItIsKnownWhatRecoveriesNeed(t *testing.T) {
	verified := func(phase dbv1.BackupVerificationPhase) func(*state.Backup) {
		return func(b *state.Backup) {
			b.Verification = state.Verification{Phase: phase, Request: "r", Started: plans.Ago(time.Minute)}
		}
	}
	for what, one := range map[string]struct {
		change           func(*state.Backup)
		deletes, trusted bool
	}{
		"complete":              {func(*state.Backup) {}, true, true},
		"verified":              {verified(dbv1.VerificationSucceeded), true, true},
		"being verified":        {verified(dbv1.VerificationRunning), false, true},
		"bad":                   {verified(dbv1.VerificationFailed), false, false},
		"asked to verify":       {func(b *state.Backup) { b.Asked = "please" }, false, true},
		"read by a cluster":     {func(b *state.Backup) { b.Read = true }, false, true},
		"with another key":      {func(b *state.Backup) { b.EncryptionSecret = "former" }, true, false},
		"beside one that runs":  {func(b *state.Backup) { b.Phase = dbv1.BackupRunning }, false, false},
		"beside one that waits": {func(b *state.Backup) { b.Phase = dbv1.BackupPending }, true, false},
	} {
		c := archived()
		c.Spec.Backup.Archive.WindowHours, c.Status.Recovery = 168, &dbv1.ClusterRecoveryStatus{Backups: []string{"a", "gone"}}
		facts, backup := working(t, c, time.Hour), complete("a", time.Minute)
		one.change(&backup)
		job := ""
		for _, o := range archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups = []state.Backup{backup} })).Operations {
			if create, is := o.(operation.Create); is {
				job = fmt.Sprint(create.Objects[0].Object.Object)
			}
		}
		deletes, trusted := strings.Contains(job, "--remove"), strings.Contains(job, "--trust=a")
		if named := strings.Contains(job, "--named=a"); named != (trusted && one.trusted) {
			t.Errorf("%s: named %v", what, named)
		}
		if deletes != one.deletes || deletes != strings.Contains(job, "deletes log") || trusted != one.trusted || !strings.Contains(job, "--keep 608400s") {
			t.Errorf("%s: deletes %v, trusts %v: %v", what, deletes, trusted, job)
		}
	}
}

// A backup without a DatabaseBackup is restored by its location.
func TestNoLogIsDeletedWhileAClusterRestoresABackupOfTheFolder(t *testing.T) {
	c := archived()
	facts := working(t, c, time.Hour)
	folder := archiver.Location(c)[:strings.LastIndex(archiver.Location(c), "/")]
	for url, deletes := range map[string]bool{folder + "/first": false, folder: false, folder + "2/first": true, "s3://elsewhere/first": true} {
		from := []dbv1.BackupSource{{Location: &dbv1.BackupDestination{URL: url}}, {Name: "of-another-cluster"}}
		d := archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups, o.Sources = []state.Backup{complete("a", time.Minute)}, from }))
		create, is := d.Operations[0].(operation.Create)
		if got := is && strings.Contains(fmt.Sprint(create.Objects[0].Object.Object), "--remove"); got != deletes {
			t.Errorf("%s: deletes %t", url, got)
		}
	}
}

// The order of the cache is random. Another Job than before would be another configuration.
func TestTheJobDoesNotDependOnTheOrderOfBackups(t *testing.T) {
	c := archived()
	one, two := complete("a", time.Hour), complete("b", time.Minute)
	var jobs []string
	for _, backups := range [][]state.Backup{{one, two}, {two, one}} {
		for _, o := range archiver.Subject.Decide(seen(t, c, working(t, c, time.Hour), func(o *state.Observed) { o.Backups = backups })).Operations {
			if create, is := o.(operation.Create); is {
				jobs = append(jobs, fmt.Sprint(create.Objects[0].Object.Object))
			}
		}
	}
	if len(jobs) != 2 || jobs[0] != jobs[1] {
		t.Error(jobs)
	}
}

// A verification that ends lets the next Job delete log. One that begins starts no Job.
func TestTheDestinationIsReadAgainWhenLogMayBeDeleted(t *testing.T) {
	c := archived()
	facts := working(t, c, time.Hour)
	facts.Looked, facts.Look = true, jobs.Job{Name: "j", Succeeded: true}
	verifying := complete("a", time.Minute)
	verifying.Asked = "please"
	for what, one := range map[string]struct {
		end    string
		backup state.Backup
		again  bool
	}{
		"a verification ends":   {"", complete("a", time.Minute), true},
		"nothing happens":       {", deletes log", complete("a", time.Minute), false},
		"a verification begins": {", deletes log", verifying, false},
		"a verification runs":   {"", verifying, false},
	} {
		facts.Occasion = occasionOf(c, facts, "a") + one.end
		d := archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups = []state.Backup{one.backup} }))
		if got := operation.Describe(d.Operations); (got != "") != one.again {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestTheStatusNamesTheBackupsThatTheWindowNeeds(t *testing.T) {
	for hours, want := range map[int32]string{0: "[]", 24: "[first second]"} {
		c := archived()
		c.Spec.Backup.Archive.WindowHours = hours
		facts := working(t, c, time.Hour)
		facts.Looked, facts.Look, facts.Occasion = true, found(true, ""), occasionOf(c, facts, "uid-1", "uid-2")
		facts.Look.Result.Recoverable.Needed = []string{"uid-1", "gone", "uid-2"}
		one, two := complete("uid-1", time.Hour), complete("uid-2", time.Minute)
		one.Name, two.Name = "first", "second"
		status := &dbv1.DatabaseClusterStatus{}
		archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups = []state.Backup{two, one} })).Report(subject.Executed{}, status)
		if got := fmt.Sprint(status.Recovery.Backups); got != want {
			t.Errorf("%d hours: %s", hours, got)
		}
	}
}

func TestTheStatusNamesTheBackupsThatBeginNoRecovery(t *testing.T) {
	c := archived()
	facts := working(t, c, time.Hour)
	facts.Looked, facts.Look, facts.Occasion = true, found(true, ""), occasionOf(c, facts, "uid-1", "uid-2")
	facts.Look.Result.Recoverable.Unusable = []string{"uid-2", "gone"}
	one, two := complete("uid-1", time.Hour), complete("uid-2", time.Minute)
	one.Name, two.Name = "first", "second"
	status := &dbv1.DatabaseClusterStatus{}
	archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups = []state.Backup{two, one} })).Report(subject.Executed{}, status)
	if got := fmt.Sprint(status.Recovery.UnusableBackups); got != "[second]" {
		t.Error(got)
	}
}

// A restore reads the log with the key of the backup.
func TestAnotherKeyNeedsAnotherBackup(t *testing.T) {
	c := archived()
	facts := working(t, c, time.Hour)
	facts.Looked, facts.Look, facts.Occasion = true, jobs.Job{Name: "j", Succeeded: true}, occasionOf(c, facts, "a")
	a := complete("a", time.Hour)
	again := func() string {
		d := archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) { o.Backups = []state.Backup{a} }))
		return operation.Describe(d.Operations)
	}
	a.Asked = "please" // so no log is deleted
	if got := again(); got != "" {
		t.Errorf("with the key of the archive: %s", got)
	}
	c.Spec.Backup.Destination.EncryptionSecretName = "key"
	facts.Deployment = working(t, c, time.Hour).Deployment
	if got := again(); got != "delete Job j: the operator reads the destination again" {
		t.Errorf("with another one: %q", got)
	}
}

func TestTheStatusSaysWhatCanBeRecovered(t *testing.T) {
	at := func(text string) time.Time {
		parsed, err := time.Parse(time.RFC3339Nano, "2026-11-20T"+text+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	span := func(from, to string) protocol.Span { return protocol.Span{Oldest: at(from), Newest: at(to)} }
	before := &dbv1.ClusterRecoveryStatus{Location: archiver.Location(archived()), CheckedAt: metav1.NewTime(at("01:30:00")), Oldest: new(metav1.NewTime(at("01:00:00")))}
	before.Ranges = []dbv1.RecoveryRange{{Oldest: *before.Oldest}}
	for what, one := range map[string]struct {
		job     jobs.Job
		before  *dbv1.ClusterRecoveryStatus
		oldest  string
		ranges  int
		message string
		says    string
	}{
		"nothing is known yet": {jobs.Job{}, nil, "", 0, "", "old"},
		"the Job runs": {
			jobs.Job{Active: true}, before, "01:00:00", 1, "", "; at 2026-11-20T01:30:00Z, any time since 2026-11-20T01:00:00Z could be recovered",
		},
		"the Job has failed":       {jobs.Job{Name: "j", Failed: true, Failure: "why"}, before, "01:00:00", 1, "Job j failed: why", "; Job j failed: why"},
		"the first Job has failed": {jobs.Job{Name: "j", Failed: true, Failure: "why"}, nil, "", 0, "Job j failed: why", "; Job j failed: why"},
		"one of another place":     {jobs.Job{Active: true}, &dbv1.ClusterRecoveryStatus{Location: "elsewhere"}, "", 0, "", "old"},
		"whole seconds": {
			found(true, "", span("02:00:00.5", "03:00:00.5")), before, "02:00:01", 1, "", "; any time since 2026-11-20T02:00:01Z can be recovered",
		},
		"no second": {found(true, "", span("02:00:00.5", "02:00:00.7")), nil, "", 0, "", "old"},
		"two ranges": {
			found(true, "", span("02:00:00", "03:00:00"), span("04:00:00", "05:00:00")), nil, "02:00:00", 2, "",
			"; any time since 2026-11-20T04:00:00Z can be recovered, and times before a gap: see status.recovery.ranges",
		},
		"after a gap": {
			found(false, "", span("02:00:00", "03:00:00")), nil, "02:00:00", 1,
			"no usable backup begins in the log that is archived now, so nothing of now can be recovered. Create a backup", "Create a backup",
		},
		"an unreadable backup": {
			found(true, "why", span("02:00:00", "03:00:00")), nil, "02:00:00", 1,
			"a backup cannot be read, so no log is deleted: why", "so no log is deleted: why",
		},
	} {
		c := archived()
		c.Status.Recovery = one.before
		facts := working(t, c, time.Hour)
		facts.Look, facts.Looked, facts.Occasion = one.job, true, occasionOf(c, facts)
		status := c.Status.DeepCopy()
		condition := archiver.Subject.Decide(seen(t, c, facts)).Report(subject.Executed{}, status)[0]
		got, oldest := status.Recovery, ""
		if got == nil {
			got = &dbv1.ClusterRecoveryStatus{}
		}
		if got.Oldest != nil {
			oldest = got.Oldest.UTC().Format(time.TimeOnly)
		}
		if oldest != one.oldest || len(got.Ranges) != one.ranges || got.Message != one.message {
			t.Errorf("%s: %+v", what, got)
		}
		if !strings.HasSuffix(condition.Message, one.says) {
			t.Errorf("%s: %s", what, condition.Message)
		}
	}
}

// That outlives the DatabaseRestore. After an undo, the archive of the first volumes continues.
func TestTheStatusDoesNotPromiseARecoveryOfReplacedData(t *testing.T) {
	replacement := &state.Replacement{Restore: dbv1.ReplacementRestoreRef{Name: "back"}}
	past := &dbv1.ClusterReplacementStatus{PastRestores: []string{"first", "last"}}
	for what, one := range map[string]struct {
		lineages    []string
		replacement *state.Replacement
		status      *dbv1.ClusterReplacementStatus
		says        string
	}{
		"replaced":                          {[]string{"of another volume"}, replacement, nil, "DatabaseRestore back replaced the data"},
		"after the deletion":                {[]string{"of another volume"}, nil, past, "DatabaseRestore last replaced the data"},
		"with a backup since then":          {[]string{"", "of another volume"}, nil, past, "old"},
		"after an undo, with one of before": {[]string{"of another volume", "present"}, replacement, past, "old"},
		"without a backup":                  {nil, nil, past, "old"},
	} {
		c := archived()
		c.Status.Replacement = one.status
		facts := working(t, c, time.Hour)
		condition := archiver.Subject.Decide(seen(t, c, facts, func(o *state.Observed) {
			for i, lineage := range one.lineages {
				b := complete(fmt.Sprint(i), time.Duration(i+1)*time.Hour)
				if b.Lineage = lineage; lineage == "present" {
					b.Lineage = string(c.UID)
				}
				o.Backups = append(o.Backups, b)
			}
			o.Replacement = one.replacement
		})).Report(subject.Executed{}, c.Status.DeepCopy())[0]
		if replaced := strings.Contains(condition.Message, "replaced the data"); !strings.Contains(condition.Message, one.says) || replaced != (one.says != "old") {
			t.Errorf("%s: %s, want %s", what, condition.Message, one.says)
		}
	}
}

// found is a Job that has read the destination.
func found(based bool, unread string, spans ...protocol.Span) jobs.Job {
	return jobs.Job{Name: "j", Succeeded: true, Result: &protocol.Result{Recoverable: &protocol.Recoverable{Spans: spans, Based: based, Current: based, Unread: unread}}}
}

func TestTheResultOfAnotherArchiveIsNotThatOfThisOne(t *testing.T) {
	c := archived()
	facts := working(t, c, time.Hour)
	facts.Looked, facts.Occasion = true, "s3://elsewhere: backups"
	facts.Look = found(true, "", protocol.Span{Oldest: plans.Now.Add(-time.Hour), Newest: plans.Now})
	status := &dbv1.DatabaseClusterStatus{}
	archiver.Subject.Decide(seen(t, c, facts)).Report(subject.Executed{}, status)
	if status.Recovery != nil {
		t.Errorf("%+v", status.Recovery)
	}
}

func TestTheStatusForgetsAnArchiveThatTheSpecDoesNotHave(t *testing.T) {
	c := archived()
	c.Spec.Backup.Archive = nil
	status := &dbv1.DatabaseClusterStatus{Recovery: &dbv1.ClusterRecoveryStatus{}}
	archiver.Subject.Decide(seen(t, c, archiver.Facts{})).Report(subject.Executed{}, status)
	if status.Recovery != nil {
		t.Errorf("%+v", status.Recovery)
	}
}
