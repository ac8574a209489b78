/*
SPDX-License-Identifier: Apache-2.0
*/

package restore_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const folder = "s3://bucket/shop/orders"

// beginsWithNewest returns a new cluster of two members that is to start with the newest backup.
func beginsWithNewest(t *testing.T, ifMissing dbv1.MissingBackupPolicy) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, "")
	at := dbv1.BackupDestination{URL: "s3://bucket/", CredentialsSecretName: "keys"}
	cluster.Spec.Bootstrap.FromBackup = &dbv1.BackupSource{Newest: &dbv1.NewestBackup{Destination: at}, IfMissing: ifMissing}
	return cluster, observed
}

// answered is the Job of a search that has ended some time ago.
func answered(c *dbv1.DatabaseCluster, found *protocol.Found, ago time.Duration) *jobs.Job {
	start := metav1.NewTime(plans.Now.Add(-ago))
	return &jobs.Job{
		Name: naming.SearchJob("orders", state.SearchID(c)), UID: "search", Succeeded: true, Result: &protocol.Result{Found: found},
		StartTime: &start, EndTime: start, CreatedAt: start.Time,
	}
}

func old() *protocol.Found {
	return &protocol.Found{Location: folder + "/old", Engine: "ledger", Image: "ledger:1", Members: 2, Completed: plans.Now.Add(-time.Hour)}
}

func TestTheNewestBackupIsDecidedOnceAndNothingIsCreatedBefore(t *testing.T) {
	recent := time.Second
	for name, c := range map[string]struct {
		ifMissing dbv1.MissingBackupPolicy
		job       func(*dbv1.DatabaseCluster) *jobs.Job
		want      string
	}{
		"no Job": {"", nil, "look for the newest backup, start Job orders-search-"},
		"it runs": {dbv1.IfMissingCreate, func(*dbv1.DatabaseCluster) *jobs.Job { return &jobs.Job{Active: true} },
			"looking for the newest backup below " + folder},
		"a backup": {"", func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, old(), recent) }, "record Restore " + folder + "/old"},
		"a backup, and an empty database is allowed": {dbv1.IfMissingCreate,
			func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, old(), recent) }, "record Restore " + folder + "/old"},
		"an empty folder": {dbv1.IfMissingCreate,
			func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, &protocol.Found{}, recent) }, "record Create "},
		"an empty folder, without consent": {"", func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, &protocol.Found{}, recent) },
			"STALLED RestoreFailed: there is no backup: " + folder + " is empty or does not exist"},
		"an empty folder, and Fail": {dbv1.IfMissingFail,
			func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, &protocol.Found{}, recent) }, "STALLED RestoreFailed: there is no backup"},
		"a result that nobody has read": {dbv1.IfMissingCreate, func(c *dbv1.DatabaseCluster) *jobs.Job {
			job := answered(c, nil, recent)
			job.Result = nil
			return job
		}, "delete Job"},
		"a result of another version": {dbv1.IfMissingCreate, func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, nil, recent) }, "delete Job"},
		"an old answer":               {dbv1.IfMissingCreate, func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, &protocol.Found{}, time.Minute) }, "delete Job"},
		"an old answer, which decides nothing": {"", func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, &protocol.Found{}, 9*time.Minute) },
			"STALLED RestoreFailed: there is no backup"},
		"a very old answer, which decided nothing": {"", func(c *dbv1.DatabaseCluster) *jobs.Job { return answered(c, &protocol.Found{}, 10*time.Minute) }, "delete Job"},
		"an unclear folder": {dbv1.IfMissingCreate, func(*dbv1.DatabaseCluster) *jobs.Job {
			return &jobs.Job{Active: true, Result: &protocol.Result{Message: "It has an archive"}, Exit: protocol.ExitPrecondition}
		}, "STALLED JobBlocked: Job , which looks for the newest backup below " + folder + ", fails until you correct this: It has an archive"},
		"a failed Job": {dbv1.IfMissingCreate, func(c *dbv1.DatabaseCluster) *jobs.Job {
			job := answered(c, nil, recent)
			job.Succeeded, job.Failed, job.Result = false, true, &protocol.Result{Message: "It has an archive.", Found: &protocol.Found{}}
			return job
		}, "STALLED RestoreFailed: the newest backup below " + folder + " is not known: It has an archive. The operator repeats the search after ten minutes. To repeat it at once, delete Job"},
		"an unreachable bucket": {dbv1.IfMissingCreate, func(*dbv1.DatabaseCluster) *jobs.Job {
			return &jobs.Job{Code: protocol.ExitTransient, Result: &protocol.Result{Message: "no route"}, Exit: protocol.ExitTransient, Started: true}
		}, "RestoreRetrying: Kubernetes retries Job : no route"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := beginsWithNewest(t, c.ifMissing)
			if c.job != nil {
				observed.Restore.Search = c.job(cluster)
			}
			p := plans.Decide(cluster, observed)
			text := plans.Text(p)
			if record, found := operation.Find[operation.Record](p.Operations); found {
				text += "record " + string(record.Bootstrap.Decision) + " " + record.Bootstrap.Location
			}
			if p.Stalled != nil {
				text += "STALLED " + p.Stalled.Reason + ": " + p.Stalled.Message
			}
			if !strings.Contains(text, c.want) {
				t.Errorf("want %q in\n%s", c.want, text)
			}
			if strings.Contains(text, "PersistentVolumeClaim") || strings.Contains(text, "create StatefulSet") {
				t.Errorf("something is created before the decision is stored:\n%s", text)
			}
			if p.Restore == nil || p.Restore.Phase == dbv1.RestoreCompleted {
				t.Errorf("the status of the restore is %+v", p.Restore)
			}
		})
	}
}

// decided stores a decision as the status of the last pass has it.
func decided(c *dbv1.DatabaseCluster, decision dbv1.BootstrapDecision, engine string) {
	c.Status.Bootstrap = &dbv1.ClusterBootstrapStatus{
		Decision: decision, Folder: folder, Search: state.SearchID(c), DecidedAt: metav1.NewTime(plans.Now), Engine: engine, Replicas: 2,
	}
	if decision == dbv1.BootstrapRestore {
		c.Status.Bootstrap.Location = folder + "/old"
	}
}

func TestTheStoredDecisionDecidesWhateverTheBucketHasLater(t *testing.T) {
	for name, found := range map[string]*protocol.Found{"nothing": nil, "an empty folder": {}, "a newer backup": {Location: folder + "/newer"}} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := beginsWithNewest(t, dbv1.IfMissingCreate)
			observed.Restore.Search = answered(cluster, found, time.Second)
			decided(cluster, dbv1.BootstrapRestore, "ledger")
			p := plans.Decide(cluster, observed)
			if create, ok := plans.Find[operation.Create](p, "create PersistentVolumeClaim"); !ok || len(create.Objects) != 2 || p.Restore.From != folder+"/old" {
				t.Errorf("of a backup: %s", plans.Text(p))
			}
			decided(cluster, dbv1.BootstrapCreate, "")
			if p = plans.Decide(cluster, observed); !strings.Contains(plans.Text(p), "StatefulSet") || p.Restore != nil || p.Stalled != nil {
				t.Errorf("of none: %s", plans.Text(p))
			}
		})
	}
}

func TestAnotherSourceIsDecidedAgainButNotAfterTheStart(t *testing.T) {
	for name, change := range map[string]func(*dbv1.BackupSource){
		"another bucket":    func(b *dbv1.BackupSource) { b.Newest.Destination.URL = "s3://another" },
		"another service":   func(b *dbv1.BackupSource) { b.Newest.Destination.Endpoint = "https://s3.example.test" },
		"another namespace": func(b *dbv1.BackupSource) { b.Newest.ClusterNamespace = "another" },
		"another name":      func(b *dbv1.BackupSource) { b.Newest.ClusterName = "another" },
		"a moment":          func(b *dbv1.BackupSource) { b.RecoveryTarget = &dbv1.RecoveryTarget{} },
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := beginsWithNewest(t, dbv1.IfMissingCreate)
			observed.Engine.Spec.Actions.Recover = &dbv1.EngineRecovery{Command: []string{"recover"}}
			decided(cluster, dbv1.BootstrapRestore, "ledger")
			change(cluster.Spec.Bootstrap.FromBackup)
			if p := plans.Decide(cluster, observed); !strings.Contains(plans.Text(p), "looking for the newest backup below ") {
				t.Error(plans.Text(p))
			}
			decided(cluster, dbv1.BootstrapCreate, "")
			cluster.Status.Bootstrap.Search = "of the spec before"
			cluster.Status.StatefulSet = &dbv1.WrittenWorkload{}
			if p := plans.Decide(cluster, observed); strings.Contains(plans.Text(p), "looking for the newest backup") {
				t.Error(plans.Text(p))
			}
		})
	}
	// The folder was wrong, and the user has seen that.
	t.Run("a location after the decision to start empty", func(t *testing.T) {
		cluster, observed := beginsWithNewest(t, dbv1.IfMissingCreate)
		decided(cluster, dbv1.BootstrapCreate, "")
		cluster.Spec.Bootstrap.FromBackup = &dbv1.BackupSource{Location: &dbv1.BackupDestination{URL: bucket, CredentialsSecretName: "keys"}}
		if p := plans.Decide(cluster, observed); p.Restore == nil || p.Reason != dbv1.ReasonRestoring {
			t.Error(plans.Text(p))
		}
		cluster.Status.StatefulSet = &dbv1.WrittenWorkload{}
		if p := plans.Decide(cluster, observed); p.Restore != nil || p.Reason == dbv1.ReasonRestoring {
			t.Errorf("after the start: %s", plans.Text(p))
		}
	})
	t.Run("the status of another cluster", func(t *testing.T) {
		cluster, _ := beginsWithNewest(t, dbv1.IfMissingCreate)
		decided(cluster, dbv1.BootstrapCreate, "")
		own := state.StartsEmpty(cluster)
		cluster.UID = "another"
		if !own || state.StartsEmpty(cluster) {
			t.Errorf("its own decision counts: %t, that of another one: %t", own, state.StartsEmpty(cluster))
		}
	})
	t.Run("only other credentials", func(t *testing.T) {
		cluster, observed := beginsWithNewest(t, dbv1.IfMissingCreate)
		decided(cluster, dbv1.BootstrapRestore, "ledger")
		cluster.Spec.Bootstrap.FromBackup.Newest.Destination.CredentialsSecretName = "others"
		if p := plans.Decide(cluster, observed); !strings.Contains(plans.Text(p), "create PersistentVolumeClaim") {
			t.Error(plans.Text(p))
		}
	})
}

func TestTheNewestBackupOfAnotherEngineIsRefusedBeforeAnythingIsCreated(t *testing.T) {
	for name, c := range map[string]struct{ engine, says string }{
		"another engine":    {"single", `s3://bucket/shop/orders/old, the newest backup below s3://bucket/shop/orders, is a backup of engine "single", but spec.engine is "ledger"`},
		"the same engine":   {"ledger", ""},
		"an unknown engine": {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := beginsWithNewest(t, "")
			decided(cluster, dbv1.BootstrapRestore, c.engine)
			p := plans.Decide(cluster, observed)
			creates := strings.Contains(plans.Text(p), "create PersistentVolumeClaim")
			if refused := p.Stalled != nil && strings.Contains(p.Stalled.Message, c.says); refused == creates || refused != (c.says != "") {
				t.Error(plans.Text(p), p.Stalled)
			}
		})
	}
}

func TestASearchWaitsForWhatItsDestinationNeeds(t *testing.T) {
	cluster, observed := beginsWithNewest(t, dbv1.IfMissingCreate)
	observed.Restore.Missing = []state.Ref{{Kind: "Secret", Name: "keys"}}
	p := plans.Decide(cluster, observed)
	if p.Stalled == nil || !strings.Contains(p.Stalled.Message, "set spec.bootstrap.fromBackup.newest.destination to use another one") || strings.Contains(plans.Text(p), "create Job") {
		t.Error(plans.Text(p), p.Stalled)
	}
}

func TestAReplacementOfTheDataOfAClusterThatStartedEmptyHasItsOwnSource(t *testing.T) {
	cluster, _ := beginsWithNewest(t, dbv1.IfMissingCreate)
	decided(cluster, dbv1.BootstrapCreate, "")
	source := &dbv1.BackupSource{Name: "yesterday"}
	if next := (state.Replacement{Source: source}).Cluster(cluster); state.FromBackup(next) != source {
		t.Errorf("the source is %+v", state.FromBackup(next))
	}
}

func TestTheJobOfASearchAsksForTheMoment(t *testing.T) {
	cluster, observed := beginsWithNewest(t, "")
	observed.Engine.Spec.Actions.Recover = &dbv1.EngineRecovery{Command: []string{"recover"}}
	cluster.Spec.Bootstrap.FromBackup.RecoveryTarget = &dbv1.RecoveryTarget{Time: "2026-01-01T00:00:00Z"}
	create, ok := plans.Find[operation.Create](plans.Decide(cluster, observed), "look for the newest backup")
	if !ok {
		t.Fatal("no Job starts")
	}
	text := strings.Join(commandOf(t, create.Objects[0]), " ")
	for _, want := range []string{"search --at " + folder, "--id " + plans.UID, "--recovers", "--until 2026-01-01T00:00:00Z", "--credentials "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q lacks %q", text, want)
		}
	}
}

// commandOf returns the command of the pod of a Job.
func commandOf(t *testing.T, job objects.Child) []string {
	t.Helper()
	made := &batchv1.Job{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(job.Object.Object, made); err != nil {
		t.Fatal(err)
	}
	return made.Spec.Template.Spec.Containers[0].Command
}
