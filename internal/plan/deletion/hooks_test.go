/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const (
	skipNote = ". To skip the deletion hooks, set the annotation database.dbcluster.io/skip-deletion-hooks=true on the cluster"
	backup   = "orders-last-0a1b2c3d"
)

// doomed returns an idle cluster of an engine that is being deleted with hooks of these types.
func doomed(t *testing.T, types ...dbv1.HookType) (*dbv1.DatabaseCluster, state.Observed) {
	t.Helper()
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	observed.Hooks, observed.HookBackups = map[string]jobs.Job{}, map[string]state.HookBackup{}
	observed.Engine = &dbv1.DatabaseEngine{}
	observed.Engine.Spec.Actions.Backup = &dbv1.EngineAction{}
	cluster.DeletionTimestamp = &metav1.Time{Time: plans.Now.Add(-time.Minute)}
	cluster.Spec.Engine, cluster.Spec.Backup = "ledger-v1", &dbv1.ClusterBackup{}
	cluster.Spec.Deletion.HookDeadlineSeconds = 600
	names := map[dbv1.HookType]string{dbv1.HookBackup: "last", dbv1.HookCommand: "run", dbv1.HookShutdown: "stop"}
	for _, kind := range types {
		cluster.Spec.Deletion.Hooks = append(cluster.Spec.Deletion.Hooks, dbv1.DeletionHook{Name: names[kind], Type: kind})
	}
	return cluster, observed
}

// report returns a plan with its messages and the states of the hooks.
func report(p plan.Plan) string {
	out := plans.Text(p)
	if p.Stalled != nil {
		out += p.Stalled.Message + "\n"
	}
	for _, h := range p.Hooks {
		out += fmt.Sprintf("%s %s", h.Name, h.Phase)
		for _, s := range h.Stopped {
			code := "?"
			if s.ExitCode != nil {
				code = fmt.Sprint(*s.ExitCode)
			}
			out += fmt.Sprintf(" %s=%s", s.Pod, code)
		}
		out += "\n"
	}
	return out
}

type doom struct {
	hooks  []dbv1.HookType
	change func(*dbv1.DatabaseCluster, *state.Observed)
	want   string
}

func decideDooms(t *testing.T, dooms map[string]doom) {
	t.Helper()
	for name, d := range dooms {
		t.Run(name, func(t *testing.T) {
			cluster, observed := doomed(t, d.hooks...)
			d.change(cluster, &observed)
			p := plans.Decide(cluster, observed)
			if p.Message == "all members have stopped; recording the results of the deletion hooks" {
				cluster.Status.Hooks = p.Hooks
				p = plans.Decide(cluster, observed)
			}
			if got := report(p); got != d.want {
				t.Errorf("got:\n%swant:\n%s", got, d.want)
			}
		})
	}
}

func goOn(c *dbv1.DatabaseCluster) { c.Spec.Deletion.HookFailurePolicy = dbv1.HookFailureContinue }

func skip(c *dbv1.DatabaseCluster) {
	c.Annotations = map[string]string{dbv1.AnnotationSkipDeletionHooks: "true"}
}

func TestAFinalBackupIsCreatedBeforeTheMembersStop(t *testing.T) {
	hooks := []dbv1.HookType{dbv1.HookBackup}
	made := func(o *state.Observed, seen state.HookBackup) {
		seen.Name, seen.Created = backup, metav1.NewTime(plans.Now.Add(-time.Minute))
		o.HookBackups["last"] = seen
	}
	notReady := func(o *state.Observed) {
		for i := range o.Members {
			o.Members[i].Ready = false
		}
	}
	const (
		waits   = "deletion hook \"last\" waits for DatabaseBackup " + backup
		offline = "; none of the remaining members is ready, so the operator stops all members and backs up their volumes: "
		stops   = "scale in to 2\nTerminating: scaling in from 3 to 0 members, one at a time\n"

		elsewhere = "DatabaseBackup " + backup + " does not contain the latest data of this cluster: it has its own spec.destination"
	)
	decideDooms(t, map[string]doom{
		"it is asked for": {
			hooks, func(*dbv1.DatabaseCluster, *state.Observed) {},
			"start deletion hook \"last\" as DatabaseBackup " + backup + "\nHookRunning: starting deletion hook \"last\"\nlast Running\n",
		},
		"a problem that the user must solve blocks the deletion before the deadline": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				goOn(c) // it has not failed, so hookFailurePolicy has no effect
				made(o, state.HookBackup{Phase: dbv1.BackupPending, Stuck: true, Message: "Secret bucket does not exist"})
			},
			"HookRunning: " + waits + ": Secret bucket does not exist\nagain in 9m0s\nSTALLED HookWaiting\n" +
				waits + ": Secret bucket does not exist. After your correction, the backup continues" + skipNote + "\nlast Running\n",
		},
		"a backup with its own destination does not count": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				made(o, state.HookBackup{Phase: dbv1.BackupCompleted, Elsewhere: true})
			},
			"HookFailed: deletion hook \"last\" failed: " + elsewhere + "\nSTALLED NameConflict\ndeletion hook \"last\" failed: " + elsewhere +
				". Delete DatabaseBackup " + backup + " to repeat the backup" + skipNote + "\nlast Failed\n",
		},
		"members that can be asked stay": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				notReady(o)
				o.Members[1].Ready = true
				made(o, state.HookBackup{Phase: dbv1.BackupPending, Message: "member orders-0 is not ready"})
			},
			"HookRunning: " + waits + ": member orders-0 is not ready\nagain in 9m0s\nlast Running\n",
		},
		"when only one that is backed up can be asked, all stop": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				notReady(o)
				o.Members[0].Ready = true
				made(o, state.HookBackup{Phase: dbv1.BackupRunning, Members: 3, Done: []int32{0}})
			},
			"scale in to 2\nHookRunning: " + waits + offline + "scaling in from 3 to 0 members, one at a time\nagain in 9m0s\nlast Running\n",
		},
		"with no pod at all it is waited for": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				o.StatefulSet, o.Members, c.Status.UpdateRevision = nil, nil, "orders-1"
				made(o, state.HookBackup{Phase: dbv1.BackupRunning})
			},
			"HookRunning: " + waits + "\nagain in 9m0s\nlast Running\n",
		},
		"members without a StatefulSet stop as well": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				notReady(o)
				o.StatefulSet = nil
				made(o, state.HookBackup{Phase: dbv1.BackupRunning})
			},
			"stop orders-2\nHookRunning: " + waits + offline + "stopping pod orders-2, which has no StatefulSet\nagain in 9m0s\nlast Running\n",
		},
		"a hibernated, paused cluster": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Hibernated, c.Spec.Paused, o.Members = true, true, nil
				*o.StatefulSet.Spec.Replicas = 0
				made(o, state.HookBackup{Phase: dbv1.BackupRunning})
			},
			"HookRunning: " + waits + "\nagain in 9m0s\nlast Running\n",
		},
		"the members stop when it is complete": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				made(o, state.HookBackup{Phase: dbv1.BackupCompleted})
			},
			stops + "last Succeeded\n",
		},
		"a complete backup counts after its object is deleted": {
			hooks, func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Status.Hooks = []dbv1.HookStatus{{Name: "last", Phase: dbv1.HookSucceeded}}
			},
			stops + "last Succeeded\n",
		},
		"one that failed blocks": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				made(o, state.HookBackup{Phase: dbv1.BackupFailed, Message: "the bucket is full."})
			},
			"HookFailed: deletion hook \"last\" failed: DatabaseBackup " + backup + ": the bucket is full.\nSTALLED HookFailed\n" +
				"deletion hook \"last\" failed: DatabaseBackup " + backup + ": the bucket is full. Delete DatabaseBackup " + backup + " to retry" + skipNote + "\nlast Failed\n",
		},
		"a failed backup is ignored if the spec asks for it": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				goOn(c)
				made(o, state.HookBackup{Phase: dbv1.BackupFailed, Message: "the bucket is full"})
			},
			stops + "last Failed\n",
		},
		"it stays failed after the deletion has continued": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				goOn(c)
				c.Status.Hooks = []dbv1.HookStatus{{Name: "last", Phase: dbv1.HookFailed}}
				made(o, state.HookBackup{Phase: dbv1.BackupCompleted})
			},
			stops + "last Failed\n",
		},
		"one that takes too long blocks": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Deletion.HookDeadlineSeconds = 60
				made(o, state.HookBackup{Phase: dbv1.BackupRunning})
			},
			"HookFailed: deletion hook \"last\" failed: DatabaseBackup " + backup + " did not complete within spec.deletion.hookDeadlineSeconds (60 s)\nSTALLED HookFailed\n" +
				"deletion hook \"last\" failed: DatabaseBackup " + backup + " did not complete within spec.deletion.hookDeadlineSeconds (60 s). " +
				"Increase spec.deletion.hookDeadlineSeconds, or delete DatabaseBackup " + backup + " to retry" + skipNote + "\nlast Failed\n",
		},
		"the hook waits until the previous backup is deleted": {
			hooks, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				made(o, state.HookBackup{Phase: dbv1.BackupFailed, Ending: true})
			},
			"HookRunning: deletion hook \"last\" waits until its previous DatabaseBackup " + backup + " is deleted\nlast Running\n",
		},
		"the annotation skips it": {
			hooks, func(c *dbv1.DatabaseCluster, o *state.Observed) {
				skip(c)
				made(o, state.HookBackup{Phase: dbv1.BackupFailed})
			},
			stops + "last Skipped\n",
		},
		"the next hook has to wait": {
			[]dbv1.HookType{dbv1.HookBackup, dbv1.HookCommand, dbv1.HookShutdown}, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				made(o, state.HookBackup{Phase: dbv1.BackupRunning})
			},
			"HookRunning: " + waits + "\nagain in 9m0s\nlast Running\nrun Pending\nstop Pending\n",
		},
	})
}

func TestAnImpossibleFinalBackupReportsTheCause(t *testing.T) {
	for want, change := range map[string]func(*dbv1.DatabaseCluster, *state.Observed){
		"spec.engine is empty": func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Engine, o.Engine = "", nil },
		"DatabaseEngine ledger-v1, which spec.engine names, does not exist. Create it. To": func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Engine = nil
		},
		"cannot be read: no right. Grant the operator permission to get databaseengines. To": func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Engine, o.EngineUnreadable = nil, "no right"
		},
		"DatabaseEngine ledger-v1 has no backup action": func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Engine.Spec.Actions.Backup = nil },
		"Set spec.backup.destination. To":               func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Backup = nil },
		"namespace shop is terminating":                 func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Terminating = true },
		"DatabaseBackup " + backup + " was not created for this": func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Foreign = []state.Ref{{Kind: "DatabaseBackup", Name: backup}}
		},
	} {
		t.Run(want, func(t *testing.T) {
			cluster, observed := doomed(t, dbv1.HookBackup)
			change(cluster, &observed)
			p := plans.Decide(cluster, observed)
			if p.Stalled == nil || !strings.Contains(p.Stalled.Message, want) || !strings.HasSuffix(p.Stalled.Message, skipNote) || plans.Disrupts(p) {
				t.Errorf("%+v", p)
			}
			goOn(cluster)
			if p := plans.Decide(cluster, observed); p.Stalled != nil || !plans.Disrupts(p) || p.Hooks[0].Phase != dbv1.HookFailed {
				t.Errorf("with hookFailurePolicy Continue: %+v", p)
			}
		})
	}
}

func TestACommandThatDoesNotStartReportsTheCauseAtOnce(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookCommand)
	observed.Hooks["run"] = jobs.Job{Name: "j", Pod: "p", Problem: "container action: image pull failed: no such image"}
	p := plans.Decide(cluster, observed)
	if p.Reason != dbv1.ReasonHookRunning || p.Message != `deletion hook "run" runs as Job j, but pod p does not run: container action: image pull failed: no such image` {
		t.Error(plans.Text(p))
	}
	observed.Hooks["run"] = jobs.Job{Name: "j", Pod: "p", Problem: "no such image", Remedy: "Correct spec.image"}
	const waits = `deletion hook "run" runs as Job j, but pod p does not run: no such image`
	if p := plans.Decide(cluster, observed); p.Message != waits || p.Stalled == nil || p.Stalled.Message != waits+". Correct spec.image"+skipNote {
		t.Error(plans.Text(p))
	}
	observed.Hooks["run"] = jobs.Job{Name: "j"}.Refuse("forbidden: exceeded quota: compute")
	const over = `deletion hook "run" runs as Job j, but the Job does not run: its pod cannot be created: forbidden: exceeded quota: compute`
	const lower = ". Increase the ResourceQuota, or reduce spec.deletion.hooks[run].resources of the DatabaseCluster"
	if p := plans.Decide(cluster, observed); p.Message != over || p.Stalled == nil || p.Stalled.Message != over+lower+skipNote {
		t.Error(plans.Text(p))
	}
	observed.Hooks["run"] = jobs.Job{Name: "j"}
	observed.References = []pods.Reference{{Kind: "Secret", Name: "password", Where: "spec.credentials.secretName"}}
	if p := plans.Decide(cluster, observed); p.Message != `deletion hook "run" runs as Job j; Secret password, which spec.credentials.secretName names, does not exist` {
		t.Error(plans.Text(p))
	}
	observed.References = nil
	observed.Hooks["run"] = jobs.Job{Name: "j", Failed: true, Failure: "Job was active longer than specified deadline", Pod: "p", Problem: "image"}
	if p := plans.Decide(cluster, observed); p.Message != `deletion hook "run" failed: Job was active longer than specified deadline (pod p: image)` {
		t.Error(plans.Text(p))
	}
}

func TestACommandOnANodeThatDoesNotRespondFailsAfterItsDeadline(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookCommand)
	cluster.DeletionTimestamp = new(plans.Ago(time.Hour))
	since := func(d time.Duration) jobs.Job {
		return jobs.Job{Name: "j", Pod: "p", Failing: true, StartTime: new(plans.Ago(d))}
	}
	observed.Hooks["run"] = since(10 * time.Minute)
	if p := plans.Decide(cluster, observed); p.Hooks[0].Phase != dbv1.HookRunning || p.RequeueAfter != 5*time.Minute {
		t.Errorf("its pod may still be about to end: %s", report(p))
	}
	observed.Hooks["run"] = since(15 * time.Minute)
	want := `deletion hook "run" failed: Job j did not finish within spec.deletion.hookDeadlineSeconds (600 s): pod p does not respond. ` +
		`Recover the node of the pod, or delete the Node object if the node is lost` + skipNote
	if p := plans.Decide(cluster, observed); p.Stalled == nil || p.Stalled.Message != want {
		t.Error(report(p))
	}
	goOn(cluster)
	if p := plans.Decide(cluster, observed); p.Hooks[0].Phase != dbv1.HookFailed || !plans.Disrupts(p) {
		t.Errorf("spec.deletion.hookFailurePolicy is Continue: %s", report(p))
	}
}

func TestAClusterThatNeverHadAMemberNeedsNoFinalBackup(t *testing.T) {
	own := state.Volume{Claim: "data-orders-0", Managed: true, Contents: state.Contents{Cluster: plans.UID}}
	cases := map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   dbv1.HookPhase
	}{
		"no object was created, and its engine does not exist": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Engine = nil }, dbv1.HookSucceeded},
		"a volume contains part of a backup": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			own := own
			own.Fill, own.From = state.Filling, "restore"
			o.Volumes = []state.Volume{own}
		}, dbv1.HookSucceeded},
		"a volume was once filled from one": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			own := own
			own.Fill, own.From = state.Filled, "s3://backups/one"
			o.Volumes = []state.Volume{own}
		}, dbv1.HookRunning},
		"a volume of the previous cluster was not adopted": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = plans.KeptVolumes() }, dbv1.HookSucceeded},
		"a volume of the previous cluster was adopted":     {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = []state.Volume{own} }, dbv1.HookRunning},
		"its members and their volumes are deleted":        {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.UpdateRevision = "orders-1" }, dbv1.HookRunning},
		"its StatefulSet is orphaned": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Foreign = []state.Ref{{Kind: "StatefulSet", Name: "orders"}}
		}, dbv1.HookRunning},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster, observed := doomed(t, dbv1.HookBackup)
			observed.StatefulSet, observed.Members = nil, nil
			c.change(cluster, &observed)
			p := plans.Decide(cluster, observed)
			if p.Hooks[0].Phase != c.want {
				t.Error(report(p))
			}
			if !p.LiveRead() {
				t.Error("that is believed of a cache that may lag behind")
			}
		})
	}
}

func TestAFinalBackupIsCreatedSoonAfterItsEngine(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookBackup)
	observed.Engine = nil
	if p := plans.Decide(cluster, observed); p.RequeueAfter != situation.MissingRequeue {
		t.Errorf("nobody tells that an engine was made, and it is looked again in %s", p.RequeueAfter)
	}
}

func TestACommandWithAMissingReferenceBlocksTheDeletion(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookCommand)
	observed.Hooks["run"] = jobs.Job{Name: "j", Pod: "p", Problem: "no such secret"}
	observed.References = []pods.Reference{{Kind: "Secret", Name: "password", Where: "spec.credentials.secretName"}}
	want := `deletion hook "run" runs as Job j, but pod p does not run: no such secret; Secret password, which spec.credentials.secretName names, does not exist. Create the missing object` + skipNote
	if p := plans.Decide(cluster, observed); p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonHookWaiting || p.Stalled.Message != want {
		t.Error(plans.Text(p))
	}
	// The pod's status does not report a missing volume source.
	observed.Hooks["run"] = jobs.Job{Name: "j", Pod: "p", Pending: true}
	want = `deletion hook "run" runs as Job j; Secret password, which spec.credentials.secretName names, does not exist. Create the missing object` + skipNote
	if p := plans.Decide(cluster, observed); p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonHookWaiting || p.Stalled.Message != want {
		t.Error(report(p))
	}
	observed.Hooks["run"] = jobs.Job{Name: "j", Pod: "p"}
	if p := plans.Decide(cluster, observed); p.Stalled != nil {
		t.Errorf("it runs, and needs nothing: %s", report(p))
	}
}

func TestABackupThatDoesNotStartReportsTheMissingReference(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookBackup)
	observed.HookBackups["last"] = state.HookBackup{Name: "b", Created: plans.Ago(0), Message: "Job j backs up member 1 of 1"}
	observed.References = []pods.Reference{{Kind: "Secret", Name: "password", Where: "spec.credentials.secretName"}, {Kind: "Secret", Name: "there", Found: true}}
	want := `deletion hook "last" waits for DatabaseBackup b: Job j backs up member 1 of 1; Secret password, which spec.credentials.secretName names, does not exist`
	if p := plans.Decide(cluster, observed); p.Message != want || p.Stalled == nil || p.Stalled.Reason != dbv1.ReasonHookWaiting || p.Stalled.Message != want+". Create the missing object"+skipNote {
		t.Error(report(p))
	}
}

func TestAHookWhoseJobIsDeletedWhenTheMembersStopDoesNotCountAsDone(t *testing.T) {
	cluster, observed := doomed(t, dbv1.HookCommand)
	observed.StatefulSet.Annotations[dbv1.AnnotationTerminating] = members.TerminatingMark(cluster)
	p := plans.Decide(cluster, observed)
	if p.Hooks[0].Phase != dbv1.HookFailed || p.Stalled != nil || p.Operations[0].String() != "scale in to 2" {
		t.Errorf("%s", report(p))
	}
}

func TestAHookOfAnUnknownTypeStopsTheDeletion(t *testing.T) {
	cluster, observed := doomed(t, "Snapshot")
	p := plans.Decide(cluster, observed)
	const want = `deletion hook "" has type "Snapshot", which this version of the operator does not support. Update the operator` + skipNote
	if p.Stalled == nil || p.Stalled.Message != want || len(p.Operations) > 0 {
		t.Error(report(p))
	}
}
