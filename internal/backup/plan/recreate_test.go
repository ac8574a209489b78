/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

func madeFrom(job objects.Child) string { return job.Object.GetAnnotations()[dbv1.AnnotationApplied] }

func TestAJobThatHasNotStartedIsReCreatedWhenTheClusterIsCorrected(t *testing.T) {
	cases := map[string]struct {
		backup *dbv1.DatabaseBackup
		job    func(string, *dbv1.DatabaseBackup, BackupFacts) jobs.Job
	}{
		"a backup of a member that runs": {started(), func(_ string, b *dbv1.DatabaseBackup, o BackupFacts) jobs.Job {
			return memberJob(0, func(t *jobs.Job) { imageless(t); t.MadeFrom = madeFrom(situationOf(b, o).backupJob(0, 0, false)) })
		}},
		"a backup from a volume": {started(), func(_ string, b *dbv1.DatabaseBackup, o BackupFacts) jobs.Job {
			return memberJob(0, func(t *jobs.Job) { imageless(t); t.MadeFrom = madeFrom(situationOf(b, o).backupJob(0, 0, true)) })
		}},
		"a verification": {verifying1(), func(_ string, b *dbv1.DatabaseBackup, o BackupFacts) jobs.Job {
			return proof(0, func(t *jobs.Job) { imageless(t); t.MadeFrom = madeFrom(situationOf(b, o).verificationJob(0)) })
		}},
		"a deletion of data": {unwantedBackup(), func(_ string, b *dbv1.DatabaseBackup, o BackupFacts) jobs.Job {
			return deletion(func(t *jobs.Job) { imageless(t); t.MadeFrom = madeFrom(situationOf(b, o).deletionJob()) })
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			observed := idleWorld()
			observed.Jobs = []jobs.Job{c.job(name, c.backup, observed)}
			if p := For(c.backup, observed); len(p.Operations) > 0 || p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonJobBlocked &&
				p.Stalled.Reason != dbv1.ReasonDeletionError || !strings.Contains(p.Stalled.Message, "Correct spec.image") {
				t.Fatalf("before the correction: %s", text(p))
			}
			observed.Cluster.Spec.Scheduling.NodeSelector = map[string]string{"disk": "fast"}
			p := For(c.backup, observed)
			if stop := does[operation.Delete](p); stop == nil || stop.Text != "stop Job "+observed.Jobs[0].Name || p.Stalled != nil {
				t.Fatal(text(p))
			}
			observed.Jobs[0].Started = true
			if p := For(c.backup, observed); len(p.Operations) > 0 {
				t.Errorf("it has started: %s", text(p))
			}
		})
	}
}

func verifying1() *dbv1.DatabaseBackup {
	b := completed()
	b.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning, Message: "starting"}
	return b
}

func unwantedBackup() *dbv1.DatabaseBackup {
	b := completed()
	b.DeletionTimestamp, b.Spec.DeletionPolicy = b.Status.CompletionTime, dbv1.BackupDelete
	return b
}

func TestABackupRecordsTheImageThatItsFirstJobIsReCreatedWith(t *testing.T) {
	backup, observed := started(), idleWorld()
	observed.Cluster.Spec.Image = "example.test/ledger:2"
	p := For(backup, observed)
	if len(p.Operations) > 0 || p.Status.Image != "example.test/ledger:2" {
		t.Fatalf("the image is recorded before the Job is created: %s", text(p))
	}
	backup.Status = p.Status
	if does[operation.Create](For(backup, observed)) == nil {
		t.Error("the Job is not created")
	}
	backup.Status.Image = "example.test/ledger:1"
	backup.Status.Streams = []dbv1.BackupStream{{Ordinal: 0}}
	if p := For(backup, observed); p.Status.Image != "example.test/ledger:1" {
		t.Error("a member has been backed up with the image that was recorded")
	}
}

func TestABackupWhoseSecretIsMissingIsStalledUntilItExists(t *testing.T) {
	backup, observed := started(), idleWorld()
	observed.Jobs, observed.Missing = []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Pod, t.Pending = "x", true })}, "Secret bucket does not exist: create it"
	if p := For(backup, observed); p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonReferenceMissing {
		t.Error(text(p))
	}
	observed.Missing = ""
	if p := For(backup, observed); p.Stalled != nil {
		t.Error(text(p))
	}
}
