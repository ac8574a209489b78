/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func at(ago time.Duration) metav1.Time { return metav1.NewTime(moment.Add(-ago)) }

// drilled is a backup that ended two hours ago in an archive with the log since three hours ago, of a cluster whose verifications recover.
func drilled(target dbv1.VerificationRecovery) (*dbv1.DatabaseBackup, *BackupFacts) {
	b, o := completed(), idleWorld()
	checking(&o)
	o.Engine.Spec.Actions.Check.Identity = "identity"
	o.Engine.Spec.Actions.Recover = &dbv1.EngineRecovery{Command: []string{"/dbc/scripts/recover"}}
	o.Cluster.Spec.Backup.Archive = &dbv1.ClusterArchive{}
	o.Cluster.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Recover: target}
	o.Recoverable = &dbv1.ClusterRecoveryStatus{
		Location: protocol.ArchiveBeside(b.Status.Location, b.Status.ClusterUID),
		Ranges:   []dbv1.RecoveryRange{{Oldest: at(9 * time.Hour), Newest: at(8 * time.Hour)}, {Oldest: at(3 * time.Hour), Newest: at(time.Minute)}},
	}
	b.Annotations = map[string]string{dbv1.AnnotationVerify: "please"}
	b.Status.Replicas, b.Status.CompletionTime = 1, new(at(2*time.Hour-3*time.Second))
	b.Status.Streams = []dbv1.BackupStream{{CompletionTime: new(at(2 * time.Hour)), Facts: map[string]dbv1.FactValue{
		"identity": "a", "position": "7", "rows": "5", protocol.ArchiveFact: "log.1",
	}}}
	return b, &o
}

func TestAVerificationRecoversOnlyWhatTheArchiveHas(t *testing.T) {
	const notYet = "status.recovery of DatabaseCluster orders does not show yet that the archive has the log after this backup"
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseBackup, *BackupFacts)
		want   string
	}{
		"to the end":               {func(*dbv1.DatabaseBackup, *BackupFacts) {}, "Newest"},
		"the spec asks for none":   {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Backup.Verification.Recover = "" }, "none"},
		"there is no archive":      {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Backup.Archive = nil }, "spec.backup.archive of DatabaseCluster orders is not set"},
		"the engine of the backup": {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Engine.Spec.Actions.Recover = nil }, "DatabaseEngine ledger-v1 has no action recover"},
		"of a previous cluster":    {func(b *dbv1.DatabaseBackup, _ *BackupFacts) { b.Status.ClusterUID = "other" }, "the backup is of a previous DatabaseCluster orders"},
		"from before the archive": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) { delete(b.Status.Streams[0].Facts, protocol.ArchiveFact) },
			"the backup does not record where it begins in an archive",
		},
		"of several members": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) {
				b.Status.Streams = append(b.Status.Streams, dbv1.BackupStream{Ordinal: 1})
			},
			"the backup does not record where it begins in an archive",
		},
		"nothing is known": {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Recoverable = nil }, "status.recovery of DatabaseCluster orders does not show yet what can be recovered"},
		"another bucket": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.Spec.Backup.Destination.Endpoint = "https://s3.example.test"
			},
			"the archive is at another destination than the backup",
		},
		"another folder": {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Recoverable.Location += "x" }, "the archive is at another destination than the backup"},
		"another key": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.Spec.Backup.Destination.EncryptionSecretName = "key"
			},
			"the archive is at another destination than the backup",
		},
		"before the window": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Backup.Archive.WindowHours = 1 },
			"it ended before the window of spec.backup.archive.windowHours, so its log may be deleted",
		},
		"in the window": {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Backup.Archive.WindowHours = 2 }, "Newest"},
		"the log after it is not stored yet": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) {
				b.Status.Streams[0].CompletionTime = new(at(time.Minute))
			}, notYet,
		},
		"the clock of its pod is behind, so only its own end counts": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) { b.Status.CompletionTime = new(at(0)) }, "Newest",
		},
		"an earlier operator did not record the end of the stream": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) { b.Status.Streams[0].CompletionTime = nil }, "Newest",
		},
		"in a gap": {func(b *dbv1.DatabaseBackup, _ *BackupFacts) {
			b.Status.Streams[0].CompletionTime = new(at(5 * time.Hour))
		}, notYet},
		"before a gap, to the end": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) {
				b.Status.Streams[0].CompletionTime = new(at(9 * time.Hour))
			},
			"log after 2025-12-31T16:00:00Z is missing in the archive, so this backup cannot be recovered to the end",
		},
		"before a gap that no backup follows": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Recoverable.NeedsBackupSince = new(at(0)) },
			"log after 2025-12-31T23:59:00Z is missing in the archive, so this backup cannot be recovered to the end",
		},
		"before a gap, to a random moment": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams[0].CompletionTime, o.Cluster.Spec.Backup.Verification.Recover = new(at(9*time.Hour)), dbv1.RecoverRandom
			}, "Random",
		},
		"less than a minute of log": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams[0].CompletionTime, o.Cluster.Spec.Backup.Verification.Recover = new(at(119*time.Second)), dbv1.RecoverRandom
			}, "Newestthe archive has less than a minute after the backup, so there is no random moment to recover to",
		},
		"the first in turn": {func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
			o.Cluster.Spec.Backup.Verification.Recover = dbv1.RecoverAlternate
		}, "Newest"},
		"in turn after the end": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.Spec.Backup.Verification.Recover, o.Recovered = dbv1.RecoverAlternate, dbv1.RecoverNewest
			}, "Random",
		},
		"in turn after a random moment": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.Spec.Backup.Verification.Recover, o.Recovered = dbv1.RecoverAlternate, dbv1.RecoverRandom
			}, "Newest",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, o := drilled(dbv1.RecoverNewest)
			c.change(b, o)
			v, got := For(b, *o).Status.Verification, "none"
			if r := v.Recovery; r != nil {
				got = string(r.Target) + r.Message
			}
			if v.Phase != dbv1.VerificationRunning || got != c.want {
				t.Errorf("%s: got %q, want %q", v.Phase, got, c.want)
			}
		})
	}
}

func TestARandomMomentIsInTheLogAfterTheBackupAndTheSameForARequest(t *testing.T) {
	from, to := moment, moment.Add(9*time.Second)
	seen := map[time.Time]int{}
	for i := range 1000 {
		one := second(string(rune('a'+i)), from, to)
		if one.Before(from) || one.After(to) || !one.Equal(second(string(rune('a'+i)), from, to)) {
			t.Fatalf("%s", one)
		}
		seen[one]++
	}
	for s, n := range seen {
		if n < 50 || len(seen) != 10 {
			t.Errorf("%s was chosen %d times of 1000, of %d seconds", s, n, len(seen))
		}
	}
	if one := second("x", from, from); !one.Equal(from) {
		t.Errorf("of one second: %s", one)
	}
	b, o := drilled(dbv1.RecoverRandom)
	first := For(b, *o).Status.Verification.Recovery.Time
	if again := For(b, *o).Status.Verification.Recovery.Time; !first.Equal(again) || first.Before(new(at(2*time.Hour-time.Minute))) || first.After(moment.Add(-time.Minute)) {
		t.Errorf("%s, %s", first, again)
	}
	b.Annotations[dbv1.AnnotationVerify] = "another"
	if other := For(b, *o).Status.Verification.Recovery.Time; first.Equal(other) {
		t.Errorf("%s for two requests", other)
	}
}

func TestTheJobOfAVerificationRecoversToTheMomentInTheStatus(t *testing.T) {
	for want, r := range map[string]*dbv1.VerifiedRecovery{
		`"--recover=/dbc/scripts/recover","--until","2025-12-31T23:00:00Z","--","/dbc/scripts/restore"`: {Target: dbv1.RecoverRandom, Time: new(at(time.Hour))},
		`"--recover=/dbc/scripts/recover","--","/dbc/scripts/restore"`:                                  {Target: dbv1.RecoverNewest},
		`"--credentials","/dbc/credentials","--","/dbc/scripts/restore"`:                                {Message: "no log"},
	} {
		b, o := drilled(dbv1.RecoverRandom)
		b.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning, Recovery: r}
		o.Recoverable = nil // it was decided before
		text, err := json.Marshal(For(b, *o).Operations)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s, %v", want, text, err)
		}
		// The member has no limit. A recovery runs the database as the member does, and a restore hardly does.
		if limited := strings.Count(string(text), `"memory":"1Gi"`); limited != map[bool]int{true: 1, false: 2}[r.Target != ""] {
			t.Errorf("%s: %d containers are limited: %s", want, limited, text)
		}
	}
}

// recovering is a running verification whose Job has ended.
func recovering(r dbv1.VerifiedRecovery, restored *protocol.Result, facts string) *dbv1.BackupVerification {
	b, o := drilled(r.Target)
	b.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning, Recovery: &r}
	o.Jobs = []jobs.Job{proof(0, func(t *jobs.Job) {
		t.Succeeded, t.Restored = true, restored
		if facts != "" {
			t.Result = &protocol.Result{Facts: said(facts)}
		}
	})}
	return For(b, *o).Status.Verification
}

func committed(result *protocol.Result, last time.Time) *protocol.Result {
	result.LastCommit = last
	return result
}

func TestAVerificationMeasuresItsRecovery(t *testing.T) {
	restored := func(to time.Time) *protocol.Result {
		return &protocol.Result{Started: moment, Restored: moment.Add(90 * time.Second), Completed: moment.Add(100500 * time.Millisecond), RecoveredTo: to}
	}
	const facts = `{"identity":"a","position":9,"rows":6}`
	const matches = "; its data matches the recorded facts: identity, position"
	for name, c := range map[string]struct {
		asked    dbv1.VerifiedRecovery
		restored *protocol.Result
		want     string
		measured dbv1.VerifiedRecovery
	}{
		"to the end": {
			dbv1.VerifiedRecovery{Target: dbv1.RecoverNewest}, restored(moment.Add(-6500 * time.Millisecond)),
			"; it was recovered to 2025-12-31T23:59:53Z in 1m41s, and the archive was 7s behind",
			dbv1.VerifiedRecovery{RecoveredSeconds: 7192, RestoreSeconds: 90, RecoverySeconds: 11, LagSeconds: new(int64(7))},
		},
		"a clock was ahead": {
			dbv1.VerifiedRecovery{Target: dbv1.RecoverNewest}, restored(moment.Add(time.Second)),
			"; it was recovered to 2026-01-01T00:00:01Z in 1m41s, and the archive was 0s behind",
			dbv1.VerifiedRecovery{RecoveredSeconds: 7200, RestoreSeconds: 90, RecoverySeconds: 11, LagSeconds: new(int64(0))},
		},
		"to the end, and the engine reports the last commit": {
			dbv1.VerifiedRecovery{Target: dbv1.RecoverNewest}, committed(restored(moment), moment.Add(-3100*time.Millisecond)),
			"; it was recovered to 2026-01-01T00:00:00Z in 1m41s, its last commit is of 2025-12-31T23:59:56Z, and the archive was 0s behind",
			dbv1.VerifiedRecovery{RecoveredSeconds: 7199, RestoreSeconds: 90, RecoverySeconds: 11, LagSeconds: new(int64(0))},
		},
		"to a random moment": {
			dbv1.VerifiedRecovery{Target: dbv1.RecoverRandom, Time: new(at(time.Hour))}, restored(moment.Add(-time.Hour)),
			"; it was recovered to 2025-12-31T23:00:00Z in 1m41s",
			dbv1.VerifiedRecovery{RecoveredSeconds: 3599, RestoreSeconds: 90, RecoverySeconds: 11},
		},
		"the pod no longer exists": {
			dbv1.VerifiedRecovery{Target: dbv1.RecoverNewest}, nil,
			"; the moment to which it was recovered is unknown, because its pod was deleted before that was read", dbv1.VerifiedRecovery{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := recovering(c.asked, c.restored, facts)
			if v.Phase != dbv1.VerificationSucceeded || v.Message != "the restored copy answered"+c.want+matches {
				t.Errorf("%s: %s", v.Phase, v.Message)
			}
			r, m := v.Recovery, c.measured
			if r.RecoveredSeconds != m.RecoveredSeconds || r.RestoreSeconds != m.RestoreSeconds || r.RecoverySeconds != m.RecoverySeconds ||
				(r.LagSeconds == nil) != (m.LagSeconds == nil) || r.LagSeconds != nil && *r.LagSeconds != *m.LagSeconds {
				t.Errorf("measured: %+v", r)
			}
		})
	}
}

// Writes after the backup change rows, which a verification without a recovery compares.
func TestAfterARecoveryOnlyFactsThatNoWriteCanLowerAreCompared(t *testing.T) {
	restored := &protocol.Result{RecoveredTo: moment}
	for facts, want := range map[string]string{
		`{"identity":"a","position":7,"rows":1}`: "",
		`{"identity":"a","position":8}`:          "",
		`{"identity":"b","position":8,"rows":5}`: "identity is b in the restored copy, but a was recorded",
		`{"identity":"a","position":6,"rows":5}`: "position is 6 in the restored copy, but at least 7 was recorded",
	} {
		v := recovering(dbv1.VerifiedRecovery{Target: dbv1.RecoverNewest}, restored, facts)
		if (v.Phase == dbv1.VerificationFailed) != (want != "") || !strings.Contains(v.Message, want) {
			t.Errorf("%s: %s: %s", facts, v.Phase, v.Message)
		}
		if v := recovering(dbv1.VerifiedRecovery{Message: "no log"}, nil, `{"identity":"a","position":8,"rows":6}`); v.Phase != dbv1.VerificationFailed {
			t.Errorf("without a recovery: %s: %s", v.Phase, v.Message)
		}
	}
	v := recovering(dbv1.VerifiedRecovery{Message: "no log"}, nil, `{"identity":"a","position":8,"rows":5}`)
	const want = "the restored copy answered; it was not recovered to a later moment: no log; its data matches the recorded facts: identity, position, rows"
	if v.Phase != dbv1.VerificationSucceeded || v.Message != want {
		t.Errorf("%s: %s", v.Phase, v.Message)
	}
}

func TestAFailedRecoveryFailsItsVerificationWithItsCause(t *testing.T) {
	b, o := drilled(dbv1.RecoverNewest)
	b.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning, Recovery: &dbv1.VerifiedRecovery{Target: dbv1.RecoverNewest}}
	o.Jobs = []jobs.Job{proof(0, failed("The recovery ended before the end of the archive."))}
	if v := For(b, *o).Status.Verification; v.Phase != dbv1.VerificationFailed || v.Message != "The recovery ended before the end of the archive." || v.Recovery.RecoveredTo != nil {
		t.Errorf("%s: %s, %+v", v.Phase, v.Message, v.Recovery)
	}
	o.Jobs = []jobs.Job{proof(0, nil)}
	if v := For(b, *o).Status.Verification; !strings.HasSuffix(v.Message, "restores member 1 of 1 into a temporary copy, and recovers it to the end of the archive") {
		t.Errorf("while it runs: %s", v.Message)
	}
}
