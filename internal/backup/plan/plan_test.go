/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/named"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/backups"
)

var moment = backups.Moment

const uid = backups.UID

var asked, started, completed = backups.Asked, backups.Started, backups.Completed

// idleWorld is a cluster of two ready members with an engine.
func idleWorld() BackupFacts {
	return BackupFacts{
		At: moment, TransferImage: "example.test/operator:1", Queue: Queue{FirstSince: moment.Add(-time.Hour)},
		Basis: named.Basis{Cluster: backups.Cluster(), Engine: backups.Engine(), EndOrdinal: 2, Members: backups.Members()},
	}
}

// jobOf is a Job of the backup, changed.
func jobOf(name, component string, change func(*jobs.Job)) jobs.Job {
	job := jobs.Job{Name: name, UID: "job", Component: component}
	if change != nil {
		change(&job)
	}
	return job
}

func memberJob(ordinal int32, change func(*jobs.Job)) jobs.Job {
	return jobOf(naming.BackupJob("orders", uid, ordinal), dbv1.ComponentBackup, change)
}

func deletion(change func(*jobs.Job)) jobs.Job {
	return jobOf(naming.BackupDeletionJob("orders", uid), dbv1.ComponentBackupDeletion, change)
}

func proof(ordinal int32, change func(*jobs.Job)) jobs.Job {
	return jobOf(naming.VerificationJob("orders", uid, "please", ordinal), dbv1.ComponentVerification, change)
}

func done(result *protocol.Result) func(*jobs.Job) {
	return func(t *jobs.Job) { t.Succeeded, t.Result = true, result }
}

func failed(message string) func(*jobs.Job) {
	return func(t *jobs.Job) {
		t.Failed, t.Failure, t.Result = true, "backoff", &protocol.Result{Message: message}
	}
}

func imageless(t *jobs.Job) {
	t.Pod, t.Problem, t.Remedy = "x", "no such image", "Correct spec.image"
}

const cannotStart = "Job orders-backup-1c2d3e4f-0 cannot start: pod x: no such image. Correct spec.image"

// text formats a plan for comparison.
func text(p BackupPlan) string {
	s := p.Status
	texts := []string{fmt.Sprintf("%s: %s", s.Phase, s.Message)}
	if v := s.Verification; v != nil {
		texts = append(texts, fmt.Sprintf("verification %s: %s", v.Phase, v.Message))
	}
	for _, o := range p.Operations {
		texts = append(texts, describe(o))
	}
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	if p.Stalled != nil {
		texts = append(texts, fmt.Sprintf("stalled %s: %s", p.Stalled.Reason, p.Stalled.Message))
	}
	return strings.Join(texts, "\n")
}

// describe formats an operation; "" for operations that these tests ignore.
func describe(o operation.Operation) string {
	switch o := o.(type) {
	case operation.Create:
		return "make " + o.Objects[0].Name()
	case operation.Delete:
		return strings.Replace(o.Text, " Job ", " ", 1)
	case operation.Finalizer:
		if o.Remove {
			return strings.TrimSuffix("finalize: "+o.Event.Note, ": ")
		}
	}
	return ""
}

// does returns the operation of a type in a plan; nil for none.
func does[T operation.Operation](p BackupPlan) *T {
	if found, ok := operation.Find[T](p.Operations); ok {
		return &found
	}
	return nil
}

func TestABackupStartsInItsQueueOrderAndReportsItsObstacle(t *testing.T) {
	const noCluster = "spec.cluster: DatabaseCluster orders does not exist: create it, or delete this DatabaseBackup"
	cases := map[string]struct {
		change func(*dbv1.DatabaseBackup, *BackupFacts)
		want   string
	}{
		"everything is there":       {func(*dbv1.DatabaseBackup, *BackupFacts) {}, "Running: starting"},
		"it was just created":       {func(b *dbv1.DatabaseBackup, _ *BackupFacts) { b.CreationTimestamp.Time = moment }, "Pending: about to start"},
		"there is no cluster":       {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster = nil }, "Pending: " + noCluster + "\nstalled BackupPending: " + noCluster},
		"there is none for so long": {func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster, o.FirstSince = nil, moment.Add(-13*time.Hour) }, "Failed: the backup could not start within 12h0m0s: " + noCluster},
		"it was created for a deleted cluster": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) {
				b.Labels = map[string]string{dbv1.LabelClusterUID: "other"}
			},
			"Failed: it was created for the previous DatabaseCluster orders, which no longer exists",
		},
		"a schedule of a deleted cluster created it": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) {
				b.Status.Origin = &dbv1.BackupOrigin{ClusterUID: "other"}
			},
			"Failed: it was created for the previous DatabaseCluster orders, which no longer exists",
		},
		"the cluster has no engine": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Engine, o.Engine = "", nil },
			"Pending: DatabaseCluster orders cannot be backed up without an engine: set spec.engine\n" +
				"stalled EngineMissing: DatabaseCluster orders cannot be backed up without an engine: set spec.engine",
		},
		"the engine does not exist": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Engine = nil },
			"Pending: DatabaseEngine ledger-v1, which DatabaseCluster orders names in spec.engine, does not exist: create it\n" +
				"stalled EngineMissing: DatabaseEngine ledger-v1, which DatabaseCluster orders names in spec.engine, does not exist: create it",
		},
		"the engine has no action backup": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Engine.Spec.Actions.Backup = nil },
			"Pending: DatabaseEngine ledger-v1 has no action backup, so DatabaseCluster orders cannot be backed up\n" +
				"stalled EngineMissing: DatabaseEngine ledger-v1 has no action backup, so DatabaseCluster orders cannot be backed up",
		},
		"there is no destination": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Backup = nil },
			"Pending: there is no destination: set spec.backup.destination of DatabaseCluster orders, or create a DatabaseBackup with spec.destination\n" +
				"stalled ReferenceMissing: there is no destination: set spec.backup.destination of DatabaseCluster orders, or create a DatabaseBackup with spec.destination",
		},
		"the destination's Secret is missing": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Missing = "Secret bucket does not exist" },
			"Pending: Secret bucket does not exist\nstalled ReferenceMissing: Secret bucket does not exist",
		},
		"another is earlier in the queue": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Predecessor = "nightly" },
			"Pending: waiting for DatabaseBackup nightly of the same cluster, which is earlier in the queue",
		},
		"another is earlier in the queue and needs the user": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Predecessor, o.Stuck = "nightly", "Secret bucket does not exist: create it"
			},
			"Pending: waiting for DatabaseBackup nightly of the same cluster, which is earlier in the queue and is blocked: " +
				"Secret bucket does not exist: create it; or delete that DatabaseBackup\nstalled BackupPending: " +
				"waiting for DatabaseBackup nightly of the same cluster, which is earlier in the queue and is blocked: Secret bucket does not exist: create it; or delete that DatabaseBackup",
		},
		"the first member is not ready": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Members[0].Ready, o.Members[0].Problem = false, "out of memory"
			},
			"Pending: waiting for pod orders-0 to be ready: out of memory",
		},
		"it is not for too long": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Members, o.FirstSince = nil, moment.Add(-3*time.Hour)
			},
			"Failed: the backup could not start within 2h0m0s: waiting for pod orders-0 to be ready",
		},
		"the cluster hibernates": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Hibernated, o.Members = true, nil },
			"Pending: waiting for pod orders-0 to be ready: spec.hibernated of DatabaseCluster orders is true",
		},
		"the members of a cluster in deletion do not exist": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.Members, o.EndOrdinal = &metav1.Time{}, nil, 0
			},
			"Running: starting",
		},
		"they do not exist, but may be re-created": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.Members = &metav1.Time{}, nil
			},
			"Pending: waiting for pod orders-0 to be ready, or to stop during the deletion of DatabaseCluster orders",
		},
		"they do not exist, nor does their data": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.Members, o.EndOrdinal = &metav1.Time{}, nil, 0
				o.Cluster.Spec.Storage.Ephemeral = new(true)
			},
			"Failed: pod orders-0 no longer exists, and its data is lost: spec.storage.ephemeral of DatabaseCluster orders is true",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			backup, observed := asked(), idleWorld()
			c.change(backup, &observed)
			if got := text(For(backup, observed)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestABackupRecordsLaterNeedsBeforeItsFirstJob(t *testing.T) {
	observed := idleWorld()
	observed.Fence, observed.Cluster.Spec.ServiceAccount.Name = "set/3", "databases"
	p := For(asked(), observed)
	s := p.Status
	if !p.Operations.Begins() || does[operation.Create](p) != nil || s.Location != "s3://backups/shop/orders/now-1c2d3e4f" || s.Destination.CredentialsSecretName != "bucket" {
		t.Errorf("%+v", p)
	}
	if s.ClusterUID != "0a1b2c3d" || s.Engine != "ledger-v1" || s.Image != "example.test/ledger:1" || s.Replicas != 2 || s.StartTime == nil || s.Fence != "set/3" || s.ServiceAccountName != "databases" {
		t.Errorf("%+v", s)
	}
	own := asked()
	own.Spec.Destination = &dbv1.BackupDestination{URL: "file:///", ClaimName: "backups"}
	if got := For(own, idleWorld()).Status.Location; got != "file:///shop/orders/now-1c2d3e4f" {
		t.Error(got)
	}
}

func TestTheEngineAndTheImageAreRecordedBeforeTheFirstJob(t *testing.T) {
	backup, observed := started(), idleWorld()
	observed.Cluster.Spec.Image, observed.Cluster.Spec.Engine = "example.test/ledger:2", "ledger-v2"
	p := For(backup, observed)
	if does[operation.Create](p) != nil || p.Status.Image != "example.test/ledger:2" || p.Status.Engine != "ledger-v2" {
		t.Fatalf("%+v", p)
	}
	backup.Status = p.Status
	if got, want := text(For(backup, observed)), "Running: starting\nmake orders-backup-1c2d3e4f-0"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestStatusWritesKeepTheOrigin(t *testing.T) {
	backup := asked()
	backup.Status.Origin = &dbv1.BackupOrigin{ClusterUID: "0a1b2c3d", Schedule: "nightly"}
	for _, observed := range []BackupFacts{idleWorld(), {At: moment, Queue: Queue{FirstSince: moment}}} {
		if got := StatusOf(backup, For(backup, observed), nil, metav1.NewTime(moment)).Origin; got == nil || got.Schedule != "nightly" {
			t.Errorf("the origin is %+v", got)
		}
	}
}

func TestABackupWithoutNamedCredentialsWaitsForThem(t *testing.T) {
	observed := idleWorld()
	at := &observed.Cluster.Spec.Backup.Destination
	at.CredentialsSecretName = ""
	p := For(asked(), observed)
	if p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonReferenceMissing || does[operation.Create](p) != nil ||
		!strings.Contains(p.Stalled.Message, "spec.backup.destination s3://backups of DatabaseCluster orders names no credentials: set its credentialsSecretName, or credentialSource: WorkloadIdentity") {
		t.Error(text(p))
	}
	at.CredentialSource = dbv1.CredentialsWorkloadIdentity
	if p := For(asked(), observed); p.Stalled != nil || p.Status.Phase != dbv1.BackupRunning {
		t.Error(text(p))
	}
}

func TestABackupWhoseOwnDestinationNamesNoCredentialsMustBeReCreated(t *testing.T) {
	backup := asked()
	backup.Spec.Destination = &dbv1.BackupDestination{URL: "s3://elsewhere"}
	if p := For(backup, idleWorld()); p.Stalled == nil || does[operation.Create](p) != nil || !strings.Contains(p.Stalled.Message, "is immutable: delete this DatabaseBackup") {
		t.Error(text(p))
	}
}

func TestMembersAreBackedUpOneAfterTheOther(t *testing.T) {
	first := dbv1.BackupStream{Ordinal: 0, Bytes: 10}
	const gone = "DatabaseCluster orders with UID 0a1b2c3d no longer exists. Do not restore from s3://backups/shop/orders/now-1c2d3e4f: " +
		"it may contain data of another cluster of the same name. Delete this DatabaseBackup to delete that data"
	const mixed = `DatabaseCluster orders changed from engine "ledger-v1" and image "example.test/ledger:1" ` +
		`to engine "ledger-v1" and image "example.test/ledger:2" when 1 of 2 members were backed up`
	cases := map[string]struct {
		change func(*dbv1.DatabaseBackup, *BackupFacts)
		want   string
	}{
		"the first": {func(*dbv1.DatabaseBackup, *BackupFacts) {}, "Running: starting\nmake orders-backup-1c2d3e4f-0"},
		"the first runs": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Jobs = []jobs.Job{memberJob(0, nil)} },
			"Running: Job orders-backup-1c2d3e4f-0 backs up member 1 of 2",
		},
		"it is tried again": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Result = &protocol.Result{Message: "the bucket does not exist"} })}
			},
			"Running: Kubernetes retries Job orders-backup-1c2d3e4f-0: the bucket does not exist",
		},
		"it is retried, and the user must correct a precondition": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) {
					t.Result, t.Exit = &protocol.Result{Message: "the key is missing"}, protocol.ExitPrecondition
				})}
			},
			"Running: Kubernetes retries Job orders-backup-1c2d3e4f-0: the key is missing\nstalled JobBlocked: Job orders-backup-1c2d3e4f-0 fails until you correct this: the key is missing",
		},
		"its image cannot be pulled": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Jobs = []jobs.Job{memberJob(0, imageless)} },
			"Running: " + cannotStart + "\nstalled JobBlocked: " + cannotStart,
		},
		"its image cannot be pulled, and the deadline passes": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Message = cannotStart
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) { imageless(t); t.Failing = true })}
			},
			"Running: " + cannotStart,
		},
		"its image could not be pulled within the deadline": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Message = cannotStart
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Failed, t.Failure = true, "Job was active longer than specified deadline" })}
			},
			"Failed: Job orders-backup-1c2d3e4f-0 failed: Job was active longer than specified deadline; " + cannotStart,
		},
		"it is not tried again": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) {
					t.Result, t.Final = &protocol.Result{Message: "it is another backup's folder"}, true
				})}
			},
			"Running: Job orders-backup-1c2d3e4f-0 failed: it is another backup's folder",
		},
		"it has been deleted by hand": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Ending = true })}
			},
			"Running: waiting for Job orders-backup-1c2d3e4f-0 to be deleted",
		},
		"the first is done: that is recorded before the second": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, done(&protocol.Result{Bytes: 10}))}
			},
			"Running: 1 of 2 members are backed up",
		},
		"the second": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) { b.Status.Streams = []dbv1.BackupStream{first} },
			"Running: starting\nmake orders-backup-1c2d3e4f-1",
		},
		"the second is not ready": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Members = []dbv1.BackupStream{first}, o.Members[:1]
			},
			"Running: waiting for pod orders-1 to be ready",
		},
		"it is not for too long": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Members = []dbv1.BackupStream{first}, o.Members[:1]
				b.Status.StartTime = &metav1.Time{Time: moment.Add(-5 * time.Hour)}
			},
			"Failed: waiting for pod orders-1 to be ready",
		},
		"the cluster was deleted since": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Cluster = []dbv1.BackupStream{first}, nil
			},
			"Failed: " + gone,
		},
		"another has its name since": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Cluster.UID = []dbv1.BackupStream{first}, "another"
			},
			"Failed: " + gone,
		},
		"another has its name when the last Job has succeeded": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Cluster.UID = []dbv1.BackupStream{first}, "another"
				o.Jobs = []jobs.Job{memberJob(1, done(&protocol.Result{Bytes: 10}))}
			},
			"Failed: " + gone,
		},
		"the cluster no longer exists when every member is recorded": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Cluster = []dbv1.BackupStream{first, {Ordinal: 1}}, nil
			},
			"Failed: " + gone,
		},
		"the image changed after the first member": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Cluster.Spec.Image = []dbv1.BackupStream{first}, "example.test/ledger:2"
			},
			"Failed: " + mixed,
		},
		"the image changed after the first member, and the Job of the second runs": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Cluster.Spec.Image = []dbv1.BackupStream{first}, "example.test/ledger:2"
				o.Jobs = []jobs.Job{memberJob(1, nil)}
			},
			"Running: stopping Job orders-backup-1c2d3e4f-1: " + mixed + "\nstop orders-backup-1c2d3e4f-1",
		},
		"the engine changed before the first Job: that is recorded before it exists": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster.Spec.Engine = "ledger-v2" },
			"Running: starting",
		},
		"the image changed while the first Job runs": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.Spec.Image, o.Jobs = "example.test/ledger:2", []jobs.Job{memberJob(0, nil)}
			},
			"Running: stopping Job orders-backup-1c2d3e4f-0: the engine or the image of DatabaseCluster orders has changed, so the backup starts again\nstop orders-backup-1c2d3e4f-0",
		},
		"the image changed, and the first Job may have read either": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.Spec.Image, o.Jobs = "example.test/ledger:2", []jobs.Job{memberJob(0, done(&protocol.Result{Bytes: 10}))}
			},
			"Running: stopping Job orders-backup-1c2d3e4f-0: the engine or the image of DatabaseCluster orders has changed, so the backup starts again\nstop orders-backup-1c2d3e4f-0",
		},
		"a rollout is under way": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Members[0].Image, o.Members[1].Image = "ledger:1", "ledger:2"
			},
			"Running: waiting for the rollout of DatabaseCluster orders: its members run different images until it completes",
		},
		"a rollout restarts another member": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.NextImage = "ledger:2" },
			"Running: waiting for the rollout of DatabaseCluster orders: its members run different images until it completes",
		},
		"a member restarts with the same image": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.NextImage = o.Members[0].Image },
			"Running: starting\nmake orders-backup-1c2d3e4f-0",
		},
		"Kubernetes is about to stop the member, because its StatefulSet was deleted": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Abandoned, o.Members[0].Owner = true, "deleted" },
			"Running: waiting for pod orders-0 to terminate, because its StatefulSet no longer exists",
		},
		"a member that a deleted StatefulSet has left is read": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Abandoned = true },
			"Running: starting\nmake orders-backup-1c2d3e4f-0",
		},
		"a rollout started while the first Job runs": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Members[0].Image, o.Members[1].Image, o.Jobs = o.Cluster.Spec.Image, "ledger:2", []jobs.Job{memberJob(0, nil)}
			},
			"Running: stopping Job orders-backup-1c2d3e4f-0: the engine or the image of DatabaseCluster orders has changed, so the backup starts again\nstop orders-backup-1c2d3e4f-0",
		},
		"a rollout started after the first member": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Members[0].Image, o.Members[1].Image = []dbv1.BackupStream{first}, o.Cluster.Spec.Image, "ledger:2"
			},
			`Failed: members of DatabaseCluster orders run different images since 1 of 2 members were backed up with engine "ledger-v1" and image "example.test/ledger:1"`,
		},
		"it is done": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Members[0].Image, o.Members[1].Image = "ledger:2", "ledger:2"
			},
			"Running: starting\nmake orders-backup-1c2d3e4f-0",
		},
		"a rollout does not go on in a cluster that is being deleted": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp = &metav1.Time{}
				o.Members[0].Image, o.Members[1].Image = "ledger:1", "ledger:2"
			},
			"Running: starting\nmake orders-backup-1c2d3e4f-0",
		},
		"a pod of its deleted Job has not terminated": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Stray = "x" },
			"Running: waiting for pod x to terminate: its Job was deleted while the pod ran",
		},
		"another pod uses the volume of a stopped member": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members = &metav1.Time{}, 0, nil
				o.Users = map[string]string{"data-orders-0": "x"}
			},
			"Running: waiting for pod x to terminate: it uses PersistentVolumeClaim data-orders-0, which must be backed up",
		},
		"the volume of a member that stopped": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members = &metav1.Time{}, 0, nil
				o.Volumes = map[string]state.Volume{"data-orders-0": {}}
			},
			"Running: starting\nmake orders-backup-1c2d3e4f-0",
		},
		"the volume of a stopped member no longer exists": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members = &metav1.Time{}, 0, nil
				o.Volumes = map[string]state.Volume{}
			},
			"Failed: PersistentVolumeClaim data-orders-0 does not exist: the data of that member is lost",
		},
		"the volume of a stopped member has a part of a backup": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members = &metav1.Time{}, 0, nil
				o.Volumes = map[string]state.Volume{"data-orders-0": {Contents: state.Contents{Fill: state.Filling, From: "one"}}}
			},
			"Failed: PersistentVolumeClaim data-orders-0 has a part of another backup: the restore into it did not finish",
		},
		"the volume is the previous cluster's, and was not adopted": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members = &metav1.Time{}, 0, nil
				o.Volumes = map[string]state.Volume{"data-orders-0": {Contents: state.Contents{Cluster: "previous"}}}
			},
			"Failed: PersistentVolumeClaim data-orders-0 belongs to the previous cluster of the same name: DatabaseCluster orders has no data in it",
		},
		"the volume has data of another engine, with which no member has run": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members = &metav1.Time{}, 0, nil
				o.Volumes = map[string]state.Volume{"data-orders-0": {Contents: state.Contents{Cluster: o.Cluster.UID, Engine: "abacus-v1"}}}
			},
			`Failed: PersistentVolumeClaim data-orders-0 has data of engine "abacus-v1", but spec.engine of DatabaseCluster orders is "ledger-v1", ` +
				`so a backup would not contain that data. Set spec.engine to "abacus-v1". If the data is of the other engine, ` +
				`set the claim's annotation database.dbcluster.io/engine to that engine`,
		},
		"the volume has data of the engine": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.DeletionTimestamp, o.EndOrdinal, o.Members = &metav1.Time{}, 0, nil
				o.Volumes = map[string]state.Volume{"data-orders-0": {Contents: state.Contents{Cluster: o.Cluster.UID, Engine: "ledger-v1"}}}
			},
			"Running: starting\nmake orders-backup-1c2d3e4f-0",
		},
		"the cluster no longer exists while the Job runs": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster, o.Jobs = nil, []jobs.Job{memberJob(0, nil)} },
			"Running: stopping Job orders-backup-1c2d3e4f-0: " + gone + "\nstop orders-backup-1c2d3e4f-0",
		},
		"another cluster has its name, and no member yet": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster.UID, o.Members, o.Jobs = "another", nil, []jobs.Job{memberJob(0, nil)}
			},
			"Running: stopping Job orders-backup-1c2d3e4f-0: " + gone + "\nstop orders-backup-1c2d3e4f-0",
		},
		"the Job of a deleted cluster stops": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Cluster, o.Jobs = nil, []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Ending = true })}
			},
			"Running: waiting for Job orders-backup-1c2d3e4f-0 and its pods to be deleted: " + gone,
		},
		"the Job of a deleted cluster does not stop": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.StartTime = &metav1.Time{Time: moment.Add(-13 * time.Hour)}
				o.Cluster, o.Jobs = nil, []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Ending = true })}
			},
			"Failed: " + gone,
		},
		"a pod of a deleted Job may still read the next cluster": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster, o.Stray = nil, "x" },
			"Running: waiting for pod x to terminate: " + gone,
		},
		"the member is no longer desired": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Members, o.Cluster.Spec.Replicas = []dbv1.BackupStream{first}, o.Members[:1], 1
			},
			"Failed: spec.replicas of DatabaseCluster orders was lowered to 1 before member 2 was backed up",
		},
		"its Job was deleted, and the node does not answer": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.StartTime = &metav1.Time{Time: moment.Add(-3 * time.Hour)}
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Pod, t.Ending = "x", true })}
			},
			"Failed: Job orders-backup-1c2d3e4f-0 was deleted but still exists: its pod x does not answer",
		},
		"both are done": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Jobs = []dbv1.BackupStream{first}, []jobs.Job{memberJob(1, done(&protocol.Result{Bytes: 5}))}
			},
			"Completed: ",
		},
		"its pod no longer exists": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Streams, o.Jobs = []dbv1.BackupStream{first}, []jobs.Job{memberJob(1, done(nil))}
			},
			"Completed: ",
		},
		"it failed": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, failed("the bucket is full"))}
			},
			"Failed: the bucket is full",
		},
		"the deadline passed, and the pod no longer exists": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Message = "Kubernetes retries Job orders-backup-1c2d3e4f-0: pod x: no such image"
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Failed, t.Failure = true, "Job was active longer than specified deadline" })}
			},
			"Failed: Job orders-backup-1c2d3e4f-0 failed: Job was active longer than specified deadline; Kubernetes retries Job orders-backup-1c2d3e4f-0: pod x: no such image",
		},
		"the deadline passes, and the pod no longer exists": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				b.Status.Message = "Kubernetes retries Job orders-backup-1c2d3e4f-0: pod x: no such image"
				o.Jobs = []jobs.Job{memberJob(0, nil)}
			},
			"Running: Kubernetes retries Job orders-backup-1c2d3e4f-0: pod x: no such image",
		},
		"the deadline passed, and the node does not answer yet": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Failing, t.StartTime = true, &metav1.Time{Time: moment.Add(-2 * time.Hour)} })}
			},
			"Running: Job orders-backup-1c2d3e4f-0 backs up member 1 of 2",
		},
		"nor long after": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Jobs = []jobs.Job{memberJob(0, func(t *jobs.Job) {
					t.Pod, t.Failing, t.StartTime = "x", true, &metav1.Time{Time: moment.Add(-3 * time.Hour)}
				})}
			},
			"Failed: Job orders-backup-1c2d3e4f-0 did not finish within its deadline: pod x does not respond",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			backup, observed := started(), idleWorld()
			c.change(backup, &observed)
			if got := text(For(backup, observed)); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestAFinishedBackupNeverChanges(t *testing.T) {
	for _, phase := range []dbv1.BackupPhase{dbv1.BackupCompleted, dbv1.BackupFailed} {
		backup := completed()
		backup.Status.Phase = phase
		for name, observed := range map[string]BackupFacts{
			"settled": idleWorld(), "nothing is left": {At: moment},
			"a Job failed after all": {At: moment, Jobs: []jobs.Job{memberJob(1, failed("no"))}},
		} {
			p := For(backup, observed)
			if len(p.Operations) > 0 || !equality.Semantic.DeepEqual(p.Status, backup.Status) {
				t.Errorf("%s, %s: %+v", phase, name, p)
			}
		}
	}
}

func TestSizeAndRateAreReadable(t *testing.T) {
	backup, observed := started(), idleWorld()
	backup.Status.Streams = []dbv1.BackupStream{{Ordinal: 0, Bytes: 1 << 30, StoredBytes: 1 << 20}}
	observed.Jobs = []jobs.Job{memberJob(1, func(t *jobs.Job) {
		t.Progress = &protocol.Progress{Bytes: 1 << 29, StoredBytes: 1 << 19, BytesPerSecond: 85 << 20}
	})}
	p := For(backup, observed)
	if s := p.Status; s.Size != "1.5 GiB" || s.Rate != "85.0 MiB/s" || s.StoredBytes != 1<<20+1<<19 || p.RequeueAfter != 5*time.Second {
		t.Errorf("%+v", p)
	}
	observed.Jobs = []jobs.Job{memberJob(1, done(&protocol.Result{Bytes: 1 << 30, StoredBytes: 1 << 20, SHA256: "ab"}))}
	s := For(backup, observed).Status
	if s.Size != "2.0 GiB" || s.Rate != "34.1 MiB/s" || s.Duration != "1m0s" || s.Streams[1].SHA256 != "ab" || s.CompletionTime == nil {
		t.Errorf("%+v", s)
	}
}

// lostFor is a Job that started so long ago, and whose pod still exists after its deadline.
func lostFor(d time.Duration) func(*jobs.Job) {
	return func(task *jobs.Job) {
		task.Pod, task.Failing, task.StartTime = "p", true, &metav1.Time{Time: moment.Add(-d)}
	}
}

func TestTheDataIsDeletedAsTheServiceAccountThatMay(t *testing.T) {
	identity := func(b *dbv1.DatabaseBackup) {
		b.Status.ServiceAccountName = "recorded"
		b.Status.Destination = &dbv1.BackupDestination{URL: "s3://backups", CredentialSource: dbv1.CredentialsWorkloadIdentity}
	}
	cases := map[string]struct {
		change  func(*dbv1.DatabaseBackup)
		cluster func(*dbv1.DatabaseCluster)
		want    string
	}{
		"of the cluster": {identity, func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Name = "current" }, "current"},
		"that the operator created for the cluster": {identity, func(c *dbv1.DatabaseCluster) {
			c.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"}
		}, "orders"},
		"that the backup recorded, without the cluster": {identity, nil, "recorded"},
		"default, if a Secret has the credentials":      {func(b *dbv1.DatabaseBackup) { b.Status.ServiceAccountName = "recorded" }, nil, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			backup, observed := completed(), idleWorld()
			backup.DeletionTimestamp, backup.Finalizers, backup.Spec.DeletionPolicy = &metav1.Time{}, []string{dbv1.Finalizer}, dbv1.BackupDelete
			c.change(backup)
			if c.cluster == nil {
				observed.Cluster, observed.Engine = nil, nil
			} else {
				c.cluster(observed.Cluster)
			}
			made := does[operation.Create](For(backup, observed))
			if made == nil {
				t.Fatal("no Job")
			}
			got, _, _ := unstructured.NestedString(made.Objects[0].Object.Object, "spec", "template", "spec", "serviceAccountName")
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestADeletedBackupLeavesDataByItsPolicy(t *testing.T) {
	const unanswered = "the data at s3://backups/shop/orders/now-1c2d3e4f could not be deleted: Job orders-unbackup-1c2d3e4f did not finish within its deadline: pod p does not respond"
	const blocked = "the data at s3://backups/shop/orders/now-1c2d3e4f could not be deleted: denied. Correct the cause, then delete Job orders-unbackup-1c2d3e4f to retry"
	cases := map[string]struct {
		backup   *dbv1.DatabaseBackup
		policy   dbv1.BackupDeletionPolicy
		jobs     []jobs.Job
		want     string
		finished bool
	}{
		"it never began":             {backup: asked(), want: "Failed: the backup was deleted before it was complete\nfinalize"},
		"complete, Retain":           {backup: completed(), policy: dbv1.BackupRetain, want: "finalize: the data is retained at s3://backups/shop/orders/now-1c2d3e4f, because spec.deletionPolicy is Retain"},
		"complete, Delete":           {backup: completed(), policy: dbv1.BackupDelete, want: "make orders-unbackup-1c2d3e4f"},
		"half, Retain":               {backup: started(), policy: dbv1.BackupRetain, want: "make orders-unbackup-1c2d3e4f"},
		"half, while a Job runs":     {backup: started(), jobs: []jobs.Job{memberJob(0, nil)}, want: "stop orders-backup-1c2d3e4f-0"},
		"half, a Job is terminating": {backup: started(), jobs: []jobs.Job{memberJob(0, func(t *jobs.Job) { t.Ending = true })}},
		"half, a Job has ended":      {backup: started(), jobs: []jobs.Job{memberJob(0, failed("no"))}, want: "make orders-unbackup-1c2d3e4f"},
		"a verification runs":        {backup: completed(), policy: dbv1.BackupRetain, jobs: []jobs.Job{proof(0, nil)}, want: "stop " + naming.VerificationJob("orders", uid, "please", 0)},
		"the data is being deleted":  {backup: completed(), policy: dbv1.BackupDelete, jobs: []jobs.Job{deletion(nil)}},
		"the data is deleted":        {backup: completed(), policy: dbv1.BackupDelete, jobs: []jobs.Job{deletion(done(nil))}, want: "finalize\ndelete orders-unbackup-1c2d3e4f"},
		"the policy is Retain now":   {backup: completed(), policy: dbv1.BackupRetain, jobs: []jobs.Job{deletion(nil)}, want: "stop orders-unbackup-1c2d3e4f"},
		"the data cannot be deleted": {backup: completed(), policy: dbv1.BackupDelete, jobs: []jobs.Job{deletion(failed("denied"))}, want: "stalled DeletionError: " + blocked + "; or set spec.deletionPolicy of DatabaseBackup now to Retain to finish its deletion and retain the data"},
		"its node is lost": {backup: completed(), policy: dbv1.BackupDelete, jobs: []jobs.Job{deletion(lostFor(169 * time.Hour))}, want: "stalled DeletionError: " + unanswered +
			". Correct the cause, then delete Job orders-unbackup-1c2d3e4f to retry; or set spec.deletionPolicy of DatabaseBackup now to Retain to finish its deletion and retain the data"},
		"half, its node is lost":      {backup: started(), policy: dbv1.BackupRetain, jobs: []jobs.Job{deletion(lostFor(2 * time.Hour))}, want: "finalize: data of the incomplete backup may still be at s3://backups/shop/orders/now-1c2d3e4f: Job orders-unbackup-1c2d3e4f did not finish within its deadline: pod p does not respond"},
		"half, its node may be back":  {backup: started(), policy: dbv1.BackupRetain, jobs: []jobs.Job{deletion(lostFor(time.Hour))}},
		"a half one cannot be either": {backup: started(), policy: dbv1.BackupRetain, jobs: []jobs.Job{deletion(failed("denied"))}, want: "finalize: data of the incomplete backup may still be at s3://backups/shop/orders/now-1c2d3e4f: denied"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			c.backup.DeletionTimestamp, c.backup.Finalizers = &metav1.Time{}, []string{dbv1.Finalizer}
			c.backup.Spec.DeletionPolicy = c.policy
			observed := idleWorld()
			observed.Cluster, observed.Engine, observed.Jobs = nil, nil, c.jobs
			got := text(For(c.backup, observed))
			if _, rest, _ := strings.Cut(got, "\n"); c.want != got && c.want != rest {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

func TestAVerificationRunsOnceForEachRequest(t *testing.T) {
	one, two := naming.VerificationJob("orders", uid, "please", 0), naming.VerificationJob("orders", uid, "please", 1)
	noAnswer := "verification Running: Job " + one + " restores member 1 of 2 into a temporary copy; the copy has not answered: "
	answered := done(&protocol.Result{Output: json.RawMessage(`{"role":"primary"}`)})
	running := func(b *dbv1.DatabaseBackup) {
		b.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning, Message: "starting"}
	}
	cases := map[string]struct {
		change func(*dbv1.DatabaseBackup, *BackupFacts)
		want   string
	}{
		"it is asked for":                       {func(*dbv1.DatabaseBackup, *BackupFacts) {}, "verification Running: starting"},
		"a failed backup has nothing to verify": {func(b *dbv1.DatabaseBackup, _ *BackupFacts) { b.Status.Phase = dbv1.BackupFailed }, ""},
		"it was asked for before": {
			func(b *dbv1.DatabaseBackup, _ *BackupFacts) {
				b.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationFailed, Message: "no"}
			}, "verification Failed: no",
		},
		"without the cluster": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Cluster = nil },
			"verification Failed: DatabaseCluster orders does not exist: a verification needs its volume size, Secrets and security contexts",
		},
		"without a probe": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) { o.Engine.Spec.Actions.Probe = nil },
			"verification Failed: DatabaseEngine ledger-v1 has no action probe: set spec.backup.verification.command of DatabaseCluster orders",
		},
		"with a command instead": {
			func(_ *dbv1.DatabaseBackup, o *BackupFacts) {
				o.Engine.Spec.Actions.Probe, o.Cluster.Spec.Backup.Verification = nil, &dbv1.BackupVerificationSchedule{Command: []string{"count"}}
			}, "verification Running: starting",
		},
		"the first member": {func(b *dbv1.DatabaseBackup, _ *BackupFacts) { running(b) }, "verification Running: starting\nmake " + one},
		"the first runs": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) { running(b); o.Jobs = []jobs.Job{proof(0, nil)} },
			"verification Running: Job " + one + " restores member 1 of 2 into a temporary copy",
		},
		"asked for again while it runs": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Annotations[dbv1.AnnotationVerify], o.Jobs = "again", []jobs.Job{proof(0, nil)}
			}, "verification Running: Job " + one + " restores member 1 of 2 into a temporary copy",
		},
		"the second member": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) { running(b); o.Jobs = []jobs.Job{proof(0, answered)} },
			"verification Running: starting\nmake " + naming.VerificationJob("orders", uid, "please", 1),
		},
		"both answered": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				o.Jobs = []jobs.Job{proof(0, answered), proof(1, answered)}
			},
			`verification Succeeded: the restored copy answered: {"role":"primary"}, {"role":"primary"}; only its answer was checked, because the backup recorded no facts to compare`,
		},
		"then the copies are deleted": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.Phase, o.Jobs = dbv1.VerificationSucceeded, []jobs.Job{proof(0, answered), proof(1, answered)}
			}, "verification Succeeded: starting\ndelete " + one + "\ndelete " + two,
		},
		"those of one that failed, too": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.Phase, o.Jobs = dbv1.VerificationFailed, []jobs.Job{proof(0, answered), proof(1, failed("no"))}
			}, "verification Failed: starting\ndelete " + one + "\ndelete " + two,
		},
		"a copy that still runs is stopped before": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.Phase, o.Jobs = dbv1.VerificationFailed, []jobs.Job{proof(0, answered), proof(1, nil)}
			}, "verification Failed: starting\nstop " + naming.VerificationJob("orders", uid, "please", 1),
		},
		"its Job was deleted": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.StartTime = &metav1.Time{Time: moment.Add(-12 * time.Hour)}
				o.Jobs = []jobs.Job{proof(0, func(t *jobs.Job) { t.Pod, t.Ending = "x", true })}
			}, "verification Running: waiting for Job " + one + " to be deleted",
		},
		"its Job was deleted, and the node does not answer": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.StartTime = &metav1.Time{Time: moment.Add(-13 * time.Hour)}
				o.Jobs = []jobs.Job{proof(0, func(t *jobs.Job) { t.Pod, t.Ending = "x", true })}
			}, "verification Failed: Job " + one + " was deleted but still exists: its pod x does not answer",
		},
		"no copy outlives its cluster": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				o.Cluster, o.Jobs = nil, []jobs.Job{proof(0, nil)}
			}, "verification Failed: DatabaseCluster orders no longer exists, so the operator deletes the temporary copy",
		},
		"it does not answer": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				o.Jobs = []jobs.Job{proof(0, func(t *jobs.Job) { t.Answer = "relation item does not exist, after 3 s" })}
			}, noAnswer + "relation item does not exist, after 3 s",
		},
		"nothing but a number is new": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.Message = strings.TrimPrefix(noAnswer, "verification Running: ") + "relation item does not exist, after 3 s"
				o.Jobs = []jobs.Job{proof(0, func(t *jobs.Job) { t.Answer = "relation item does not exist, after 14 s" })}
			}, noAnswer + "relation item does not exist, after 3 s",
		},
		"its log cannot be read": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.Message = strings.TrimPrefix(noAnswer, "verification Running: ") + "relation item does not exist"
				o.Jobs = []jobs.Job{proof(0, nil)}
			}, noAnswer + "relation item does not exist",
		},
		"it never answered": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				b.Status.Verification.Message = "Job " + one + " is tried again: pod x: container database: exited with code 1 (Error)"
				o.Jobs = []jobs.Job{proof(0, failed("The database did not answer its probe."))}
			}, "verification Failed: The database did not answer its probe. Seen before: Job " + one + " is tried again: pod x: container database: exited with code 1 (Error)",
		},
		"a piece is corrupt": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				o.Jobs = []jobs.Job{proof(0, failed("piece member-0/00000.zst is corrupt"))}
			}, "verification Failed: piece member-0/00000.zst is corrupt",
		},
		"the copy does not answer, and the cluster was upgraded since": {
			func(b *dbv1.DatabaseBackup, o *BackupFacts) {
				running(b)
				o.Diverged = `engine "ledger-v1" and image "example.test/ledger:2"`
				o.Jobs = []jobs.Job{proof(0, failed("the copy did not answer"))}
			}, `verification Failed: the copy did not answer. The copy used the backup's engine "ledger-v1" and image "example.test/ledger:1", ` +
				`with the arguments, parameters and files of DatabaseCluster orders, which now has engine "ledger-v1" and image "example.test/ledger:2". ` +
				"Check that they are compatible before you discard the backup",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			backup, observed := completed(), idleWorld()
			backup.Annotations = map[string]string{dbv1.AnnotationVerify: "please"}
			c.change(backup, &observed)
			_, got, _ := strings.Cut(text(For(backup, observed)), "\n")
			if got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// awaited is the name of the backup that asked() waits for.
func awaited(all ...dbv1.DatabaseBackup) string {
	if before, _ := predecessor(asked(), all); before != nil {
		return before.Name
	}
	return ""
}

func TestARunningBackupPrecedesTheOldestUnfinishedOne(t *testing.T) {
	other := func(name string, age time.Duration, phase dbv1.BackupPhase) dbv1.DatabaseBackup {
		b := asked()
		b.Name, b.UID, b.Status.Phase = name, "other", phase
		b.CreationTimestamp = metav1.NewTime(moment.Add(-age))
		return *b
	}
	cases := map[string]struct {
		other dbv1.DatabaseBackup
		want  string
	}{
		"an older one":                 {other("a", 2*time.Hour, dbv1.BackupPending), "a"},
		"a younger one":                {other("a", time.Minute, dbv1.BackupPending), ""},
		"a younger one that runs":      {other("a", time.Minute, dbv1.BackupRunning), "a"},
		"an older one that failed":     {other("a", 2*time.Hour, dbv1.BackupFailed), ""},
		"one of the same second":       {other("a", time.Hour, ""), "a"},
		"one of the same second after": {other("z", time.Hour, ""), ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := awaited(*asked(), c.other); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	never := other("a", 2*time.Hour, dbv1.BackupPending)
	never.DeletionTimestamp = &metav1.Time{Time: moment}
	if got := awaited(never); got != "" {
		t.Errorf("waits for %q, which was deleted before it began", got)
	}
	elsewhere := other("a", 2*time.Hour, dbv1.BackupRunning)
	elsewhere.Spec.Cluster = "another"
	if got := awaited(elsewhere); got != "" {
		t.Errorf("waits for %q, which is of another cluster", got)
	}
	older, old := other("z", 3*time.Hour, dbv1.BackupPending), other("a", 2*time.Hour, dbv1.BackupPending)
	if got := awaited(older, old); got != "z" {
		t.Errorf("waits for %q, not for the first of all", got)
	}
	older.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionStalled, Status: metav1.ConditionTrue, Message: "no such Secret"}}
	if got := awaited(older, old); got != "a" {
		t.Errorf("waits for %q, not for the first that can start", got)
	}
	old.Status.Phase = dbv1.BackupRunning
	if got := awaited(older, old); got != "a" {
		t.Errorf("waits for %q, not for the one that runs", got)
	}
	old.Status.Conditions = older.Status.Conditions
	if got := awaited(old); got != "a" {
		t.Errorf("waits for %q, not for the one that has begun, although it is stuck", got)
	}
	for age, want := range map[time.Duration]time.Time{2 * time.Hour: moment, time.Minute: asked().CreationTimestamp.Time} {
		ended := other("a", age, dbv1.BackupCompleted)
		ended.Status.CompletionTime = &metav1.Time{Time: moment}
		if _, since := predecessor(asked(), []dbv1.DatabaseBackup{ended}); !since.Equal(want) {
			t.Errorf("after one that was created %s ago its turn is since %s, want %s", age, since, want)
		}
	}
}

func TestOfTwoBackupsThatStartTogetherTheLaterYields(t *testing.T) {
	first, second := started(), started()
	second.Name, second.UID = "second", "second"
	second.CreationTimestamp = metav1.NewTime(first.CreationTimestamp.Add(time.Minute))
	see := func(backup, other *dbv1.DatabaseBackup) BackupPlan {
		observed := idleWorld()
		before, _ := predecessor(backup, []dbv1.DatabaseBackup{*other})
		if before != nil {
			observed.Predecessor, observed.Yields = before.Name, earlier(before, backup)
		}
		return For(backup, observed)
	}
	first.Status.StartTime = &metav1.Time{Time: moment.Add(-100 * time.Hour)} // the other may be large
	if p := see(first, second); does[operation.Create](p) != nil || p.Status.Phase != dbv1.BackupRunning || !strings.Contains(p.Why, "waiting for DatabaseBackup second") {
		t.Errorf("the first does not wait: %s", text(p))
	}
	p := see(second, first)
	if does[operation.Create](p) != nil || p.Status.Phase != dbv1.BackupPending || !p.LiveRead() {
		t.Errorf("the second does not give way: %s", text(p))
	}
	second.Status = p.Status
	if p := see(first, second); does[operation.Create](p) == nil {
		t.Errorf("the first still waits: %s", text(p))
	}
	if p := see(second, first); does[operation.Create](p) != nil || p.Status.Phase != dbv1.BackupPending {
		t.Errorf("the second does not wait: %s", text(p))
	}
}

// made is the Job that a plan creates.
func made(t *testing.T, p BackupPlan) *batchv1.Job {
	t.Helper()
	job := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(does[operation.Create](p).Objects[0].Object.Object, job); err != nil {
		t.Fatal(err)
	}
	return job
}

func TestTheJobsCallTransferWithTheRightArguments(t *testing.T) {
	backup, observed := started(), idleWorld()
	backup.Status.Streams = []dbv1.BackupStream{{Ordinal: 0}}
	observed.Cluster.DeletionTimestamp, observed.EndOrdinal, observed.Members = &metav1.Time{}, 0, nil
	job := made(t, For(backup, observed))
	const backs = "/dbc/bin/transfer backup --to s3://backups/shop/orders/now-1c2d3e4f --id 1c2d3e4f-0000 --member 1 --members 2 " +
		"--about cluster=orders --about namespace=shop --about backup=now --about engine=ledger-v1 --about image=example.test/ledger:1 " +
		"--about clusterUID=0a1b2c3d --complete --credentials /dbc/credentials -- /dbc/scripts/backup"
	pod := job.Spec.Template.Spec
	if got := strings.Join(pod.Containers[0].Command, " "); got != backs {
		t.Errorf("backup: %s", got)
	}
	if claim := pod.Volumes[len(pod.Volumes)-1].PersistentVolumeClaim; claim == nil || claim.ClaimName != "data-orders-1" {
		t.Errorf("%+v", pod.Volumes)
	}

	gone := completed()
	gone.DeletionTimestamp, gone.Spec.DeletionPolicy = &metav1.Time{}, dbv1.BackupDelete
	declared := idleWorld().Engine
	declared.Spec.Container.RunAsUser = new(int64(999))
	job = made(t, For(gone, BackupFacts{At: moment, TransferImage: "example.test/operator:1", Basis: named.Basis{Engine: declared}}))
	pod = job.Spec.Template.Spec
	if got := strings.Join(pod.Containers[0].Command, " "); got != "/dbc/bin/transfer delete --at s3://backups/shop/orders/now-1c2d3e4f --id 1c2d3e4f-0000 --credentials /dbc/credentials" {
		t.Errorf("delete: %s", got)
	}
	if len(job.OwnerReferences) != 0 || pod.Containers[0].Image != "example.test/operator:1" {
		t.Errorf("%+v", job)
	}
	if user := pod.SecurityContext.RunAsUser; user == nil || *user != 999 {
		t.Error("another user may not delete what was written to a volume")
	}

	proved := completed()
	proved.Status.Verification = &dbv1.BackupVerification{Request: "please", Phase: dbv1.VerificationRunning}
	job = made(t, For(proved, idleWorld()))
	pod = job.Spec.Template.Spec
	if got := strings.Join(pod.Containers[0].Command, " "); got != "/dbc/bin/transfer probe --timeout 10800s -- /dbc/scripts/probe" {
		t.Errorf("probe: %s", got)
	}
	observed = idleWorld()
	observed.Cluster.Spec.Backup.Verification = &dbv1.BackupVerificationSchedule{Command: []string{"psql", "--command=select 1/count(*) from orders"}}
	asks := made(t, For(proved, observed)).Spec.Template.Spec
	if got := strings.Join(asks.Containers[0].Command, " "); got != "/dbc/bin/transfer probe --timeout 10800s --by-exit-code -- psql --command=select 1/count(*) from orders" {
		t.Errorf("a query of the user's: %s", got)
	}
	if got := strings.Join(pod.InitContainers[1].Command, " "); got != "/dbc/bin/transfer restore --from s3://backups/shop/orders/now-1c2d3e4f --id 1c2d3e4f-0000 --into /ledger --member 0 --members 2 --credentials /dbc/credentials -- /dbc/scripts/restore" {
		t.Errorf("restore: %s", got)
	}
}

func TestADeletionOfDataBlocksNoOtherBackup(t *testing.T) {
	backup, observed := started(), idleWorld()
	backup.DeletionTimestamp, backup.Spec.DeletionPolicy = &metav1.Time{}, dbv1.BackupDelete
	observed.Stray = "x"
	if p := For(backup, observed); does[operation.Create](p) != nil || p.Status.Phase != dbv1.BackupRunning {
		t.Errorf("something may still write: %s", text(p))
	}
	observed.Stray, observed.Jobs = "", []jobs.Job{deletion(failed("denied"))}
	if p := For(backup, observed); p.Status.Phase != dbv1.BackupFailed || p.Stalled == nil {
		t.Errorf("nothing writes any more: %s", text(p))
	}
}

func TestAnUnreachableDestinationBlocksOnlyADeletionWithData(t *testing.T) {
	for policy, want := range map[dbv1.BackupDeletionPolicy]int64{dbv1.BackupDelete: 7 * 24 * 3600, dbv1.BackupRetain: 3600} {
		backup := started()
		backup.DeletionTimestamp, backup.Spec.DeletionPolicy = &metav1.Time{}, policy
		if got := made(t, For(backup, idleWorld())).Spec.ActiveDeadlineSeconds; *got != want {
			t.Errorf("%s: %d s", policy, *got)
		}
	}
}
