/*
SPDX-License-Identifier: Apache-2.0
*/

package restore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

const bucket = "s3://bucket/shop/orders/first-0a1b2c3d"

func restorer() *dbv1.DatabaseEngine {
	return &dbv1.DatabaseEngine{
		ObjectMeta: metav1.ObjectMeta{Name: "ledger"},
		Spec:       dbv1.DatabaseEngineSpec{Actions: dbv1.EngineActions{Restore: &dbv1.EngineAction{Command: []string{"restore"}}}},
	}
}

// beginsWith returns a new cluster of two members that is to start with a backup.
func beginsWith(c *dbv1.DatabaseCluster, o *state.Observed, url string) {
	c.Spec.Replicas, c.Spec.Engine, o.Engine, o.Image = 2, "ledger", restorer(), "operator:1"
	o.StatefulSet, o.Members = nil, nil
	c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Location: &dbv1.BackupDestination{URL: url, CredentialsSecretName: "keys"}}}
}

// filling adds the volume of a member that a restore fills, and its Job.
func filling(c *dbv1.DatabaseCluster, o *state.Observed, ordinal int32, job *jobs.Job) state.Volume {
	id := situation.RestoreID(c, *c.Spec.Bootstrap.FromBackup.Location, c.Spec.Replicas)
	v := state.Volume{
		Claim: naming.ClaimIn(naming.DataVolume, "orders", ordinal), UID: types.UID(fmt.Sprint("claim", ordinal)), Ordinal: ordinal,
		Managed: true, Contents: state.Contents{Cluster: plans.UID, Engine: "ledger", Fill: state.Filling, From: id}, Requested: resource.MustParse("1Gi"),
	}
	o.Volumes = append(o.Volumes, v)
	if job != nil {
		job.Name = naming.RestoreJob("orders", id, v.UID, ordinal)
		job.UID, job.Component = types.UID(fmt.Sprint("job", ordinal)), dbv1.ComponentRestore
		o.Restore.Jobs = append(o.Restore.Jobs, *job)
	}
	return v
}

func runs() *jobs.Job { return &jobs.Job{Active: true} }
func done() *jobs.Job { return &jobs.Job{Succeeded: true} }
func leaves() *jobs.Job {
	return &jobs.Job{Active: true, Ending: true}
}

// lost is a Job that Kubernetes has ended a week and an hour after its start, but whose pod does not end.
func lost() *jobs.Job {
	return &jobs.Job{Active: true, Started: true, Failing: true, Pod: "x-1", StartTime: new(plans.Ago(169 * time.Hour))}
}

func lacks(now *protocol.Progress) *jobs.Job {
	return &jobs.Job{Active: true, Result: &protocol.Result{Message: "the key is missing"}, Exit: protocol.ExitPrecondition, Progress: now}
}

// jobs replaces the hashes in the names of Jobs with readable names.
func startedJobs(text string, o state.Observed) string {
	for _, v := range o.Volumes {
		text = strings.ReplaceAll(text, naming.RestoreJob("orders", v.From, v.UID, v.Ordinal), fmt.Sprint("JOB", v.Ordinal))
	}
	return text
}

func TestHowABackupIsRestoredIntoANewCluster(t *testing.T) {
	const (
		how     = "restoring " + bucket + " into the volumes of all members; see status.restore for progress"
		working = "Restoring: " + how
		trouble = "RestoreRetrying: " + how
		again   = "\nagain in 5s\n"

		cannotStart = "Job JOB0, which restores " + bucket + " into PersistentVolumeClaim data-orders-0, cannot start: " +
			"pod x-1: container action: image pull failed: no. Correct spec.image"
	)
	cases := map[string]scenario{
		"the user has to act before an attempt can succeed": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, lacks(nil))
				filling(c, o, 1, runs())
			},
			"Restoring: Job JOB0, which restores " + bucket + " into PersistentVolumeClaim data-orders-0, fails until you correct this: the key is missing" + again + "STALLED JobBlocked\n",
		},
		"nobody retries a Job whose node does not respond": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, lost())
				filling(c, o, 1, runs())
			},
			"Restoring: Job JOB0, which restores " + bucket + " into PersistentVolumeClaim data-orders-0, does not end: Job JOB0 did not finish within its deadline: " +
				"pod x-1 does not respond. Recover the node of the pod, or delete the Node object if the node is lost" + again + "STALLED JobBlocked\n",
		},
		"until an attempt gets further": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, lacks(&protocol.Progress{Bytes: 1}))
				filling(c, o, 1, runs())
			},
			trouble + "; Kubernetes retries Job JOB0: the key is missing" + again,
		},
		"the claims first": {
			func(*dbv1.DatabaseCluster, *state.Observed) {},
			"create PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n" +
				"Restoring: creating the volumes: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n",
		},
		"the claim that is not there yet": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { filling(c, o, 0, nil) },
			"create PersistentVolumeClaim data-orders-1\nRestoring: creating the volumes: PersistentVolumeClaim data-orders-1\n",
		},
		"then the Jobs, all at once": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { filling(c, o, 0, nil); filling(c, o, 1, nil) },
			"restore " + bucket + ", start Job JOB0, Job JOB1\nRestoring: restoring " + bucket + ", starting Job JOB0, Job JOB1\n",
		},
		"a deleted Job again": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { filling(c, o, 0, runs()); filling(c, o, 1, nil) },
			"restore " + bucket + ", start Job JOB1\nRestoring: restoring " + bucket + ", starting Job JOB1" + again,
		},
		"but not before the pod of the previous Job has ended": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, runs())
				filling(c, o, 1, nil)
				o.Bystanders = []state.Bystander{
					{Name: "x-1", Cluster: plans.UID, Component: dbv1.ComponentRestore, Job: "job0"},
					{Name: "x-2", Cluster: plans.UID, Component: dbv1.ComponentRestore, Job: "previous"},
				}
			},
			"Restoring: waiting for pod x-2 to terminate, because its restore is no longer needed" + again,
		},
		"and not before the previous Job is deleted": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { filling(c, o, 0, done()); filling(c, o, 1, leaves()) },
			working + "; waiting until the previous Job JOB1 is deleted" + again,
		},
		"waiting while they run, and looking how far they are": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { filling(c, o, 0, done()); filling(c, o, 1, runs()) },
			working + again,
		},
		"saying what keeps a pod from running": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				job := runs()
				job.Pod, job.Problem = "x-1", "cannot be scheduled: no node"
				filling(c, o, 0, job)
				filling(c, o, 1, runs())
			},
			trouble + "; Kubernetes retries Job JOB0: pod x-1: cannot be scheduled: no node" + again,
		},
		"reporting why an attempt failed": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				job := runs()
				job.Pod, job.Result = "x-1", &protocol.Result{Message: "nobody answers"}
				filling(c, o, 0, job)
				filling(c, o, 1, done())
			},
			trouble + "; Kubernetes retries Job JOB0: nobody answers" + again,
		},
		"saying what to do about an image that cannot be had": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				job := runs()
				job.Pod, job.Problem, job.Remedy = "x-1", "container action: image pull failed: no", "Correct spec.image"
				filling(c, o, 0, job)
				filling(c, o, 1, runs())
			},
			"Restoring: " + cannotStart + again + "STALLED JobBlocked\n",
		},
		"no claim is marked while one volume is not filled": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, done())
				filling(c, o, 1, &jobs.Job{})
			},
			working + again,
		},
		"all are when each is": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { filling(c, o, 0, done()); filling(c, o, 1, done()) },
			"mark 2 volumes as restored from " + bucket + "\nRestoring: " + bucket + " is restored into the volumes of all members\n",
		},
		"those that a crash left without the annotation": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, done())
				filling(c, o, 1, done())
				o.Volumes[0].Fill, o.Volumes[0].From = state.Filled, bucket
			},
			"mark 1 volumes as restored from " + bucket + "\nRestoring: " + bucket + " is restored into the volumes of all members\n",
		},
		"then the members": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, nil)
				filling(c, o, 1, nil)
				marked(o)
			},
			"create StatefulSet orders\nApplying: create StatefulSet orders\n",
		},
		"a hibernated cluster is filled, too": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				c.Spec.Hibernated = true
				filling(c, o, 0, done())
				filling(c, o, 1, done())
			},
			"mark 2 volumes as restored from " + bucket + "\nRestoring: " + bucket + " is restored into the volumes of all members\n",
		},
		"a paused one is not": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) { c.Spec.Paused = true },
			"Paused: spec.paused is true; pending: creating the volumes: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1\n",
		},
		"a claim on its way out is waited for": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, runs())
				filling(c, o, 1, runs())
				o.Volumes[1].Terminating = true
			},
			"Restoring: PersistentVolumeClaim data-orders-1 is terminating; the restore continues after the claim is deleted" + again,
		},
		"a re-created claim is filled again": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, done())
				filling(c, o, 1, done())
				o.Volumes[1].UID = "new"
			},
			"restore " + bucket + ", start Job JOB1\nRestoring: restoring " + bucket + ", starting Job JOB1\n",
		},
		"a failed Job requires an action of the user": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, done())
				filling(c, o, 1, &jobs.Job{Failed: true, Result: &protocol.Result{Message: "the bucket is not there."}})
			},
			"Restoring: the restore of " + bucket + " into PersistentVolumeClaim data-orders-1 failed: the bucket is not there. See kubectl logs job/JOB1. " +
				"Correct the spec or name another backup in spec.bootstrap.fromBackup; this restarts the restore. After any other correction, delete the Job\nSTALLED RestoreFailed\n",
		},
		"without the image there is nothing to do it with": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Image = "" },
			"Restoring: spec.bootstrap.fromBackup: the operator cannot fill volumes, because its flag --transfer-image is not set. Set it to the image that contains the transfer program\n" +
				"STALLED RestoreFailed\n",
		},
		"a Secret that is not there is looked for": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Restore.Missing = []state.Ref{{Kind: "Secret", Name: "keys"}}
			},
			"Restoring: Secret keys, which the backup in spec.bootstrap.fromBackup needs, does not exist. Create it, or set spec.bootstrap.fromBackup.location to use another one\n" +
				"again in 10s\nSTALLED RestoreFailed\n",
		},
		"a claim of another owner does not change": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Foreign = []state.Ref{{Kind: "PersistentVolumeClaim", Name: "data-orders-0"}}
			},
			"Restoring: PersistentVolumeClaim data-orders-0 already exists and does not belong to this cluster, so the operator does not change it. Delete it, or give the cluster another name\n" +
				"again in 10s\nSTALLED NameConflict\n",
		},
		"volumes of the previous cluster do not change": {
			func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Volumes = plans.KeptVolumes() },
			"AdoptingVolumes: PersistentVolumeClaim data-orders-0, PersistentVolumeClaim data-orders-1: retained from the previous cluster of the same name, and spec.bootstrap.fromBackup never overwrites data. " +
				"Delete these claims if you do not need their data, or remove spec.bootstrap to start with these volumes\nSTALLED VolumeConflict\n",
		},
		"a claim that came from elsewhere in the middle": {
			func(c *dbv1.DatabaseCluster, o *state.Observed) {
				filling(c, o, 0, runs())
				filling(c, o, 1, nil)
				o.Volumes[1].Fill, o.Volumes[1].From = state.Plain, ""
			},
			"Restoring: PersistentVolumeClaim data-orders-1 was not created for this restore, and the operator never restores over existing data. " +
				"Delete the claim, or remove spec.bootstrap" + again + "STALLED VolumeConflict\n",
		},
	}
	for name, s := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			observed := plans.Standing(t, cluster)
			beginsWith(cluster, &observed, bucket)
			s.change(cluster, &observed)
			if got := startedJobs(plans.Text(plans.Decide(cluster, observed)), observed); got != s.want {
				t.Errorf("got:\n%swant:\n%s", got, s.want)
			}
		})
	}
}

func marked(o *state.Observed) {
	for i := range o.Volumes {
		o.Volumes[i].Fill, o.Volumes[i].From = state.Filled, bucket
	}
}

// The Jobs of a DatabaseRestore that was deleted stay for their logs.
func TestTheMomentOfARestoreIsNotThatOfAPreviousOne(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	at := func(ago time.Duration) *jobs.Job {
		return &jobs.Job{Succeeded: true, StartTime: new(plans.Ago(ago)), Result: &protocol.Result{Bytes: 100, RecoveredTo: plans.Ago(ago).Time}}
	}
	filling(cluster, &observed, 0, at(time.Hour)) // the name of this Job sorts first
	observed.Restore.Jobs[0].Name = "orders-restore-0"
	observed.Volumes = nil
	filling(cluster, &observed, 0, at(time.Minute))
	filling(cluster, &observed, 1, nil)
	for i := range observed.Volumes {
		observed.Volumes[i].Created = plans.Ago(2 * time.Minute)
	}
	marked(&observed)
	cluster.Status.Restore = &dbv1.ClusterRestoreStatus{From: bucket, Phase: dbv1.RestoreRunning}
	got := plans.Decide(cluster, observed).Restore
	if got == nil || got.RecoveredTo == nil || !got.RecoveredTo.Time.Equal(plans.Ago(time.Minute).Time) || got.Bytes != 100 {
		t.Errorf("%+v", got)
	}
}

func TestABackupIsNeverRestoredOnceThereWereMembers(t *testing.T) {
	for name, change := range map[string]func(*dbv1.DatabaseCluster, *state.Observed){
		"members that run": func(c *dbv1.DatabaseCluster, o *state.Observed) {
			o.StatefulSet, o.Members = plans.Standing(t, c).StatefulSet, plans.Standing(t, c).Members
		},
		"members that run without a StatefulSet": func(c *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members = plans.Standing(t, c).Members
		},
		"volumes that a StatefulSet created": func(c *dbv1.DatabaseCluster, o *state.Observed) {
			for ordinal := range int32(2) {
				filling(c, o, ordinal, nil)
				o.Volumes[ordinal].Fill, o.Volumes[ordinal].From = state.Plain, ""
			}
		},
		"volumes that are filled, from whatever it was": func(c *dbv1.DatabaseCluster, o *state.Observed) {
			filling(c, o, 0, nil)
			filling(c, o, 1, nil)
			marked(o)
			c.Spec.Bootstrap.FromBackup.Location.URL = "s3://another"
		},
		"a restore that was complete once, and deleted volumes": func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Status.Restore = &dbv1.ClusterRestoreStatus{Phase: dbv1.RestoreCompleted}
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			observed := plans.Standing(t, cluster)
			beginsWith(cluster, &observed, bucket)
			change(cluster, &observed)
			todo := plans.Decide(cluster, observed)
			if todo.Reason == dbv1.ReasonRestoring || todo.Stalled != nil || len(plans.Removals(todo)) > 0 {
				t.Error(plans.Text(todo))
			}
			if situation.Of(cluster, observed).Restoration != nil {
				t.Error("something is left to restore")
			}
		})
	}
}

func TestVolumesOfAnotherSourceAreDeletedFirst(t *testing.T) {
	changed := func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap.FromBackup.Location.URL = "s3://another" }
	for name, change := range map[string]func(*dbv1.DatabaseCluster){
		"another place":     changed,
		"other credentials": func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap.FromBackup.Location.CredentialsSecretName = "others" },
		"an identity": func(c *dbv1.DatabaseCluster) {
			at := c.Spec.Bootstrap.FromBackup.Location
			at.CredentialsSecretName, at.CredentialSource = "", dbv1.CredentialsWorkloadIdentity
		},
		"another key":              func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap.FromBackup.Location.EncryptionSecretName = "age" },
		"another number":           func(c *dbv1.DatabaseCluster) { c.Spec.Replicas = 1 },
		"no source at all":         func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap = nil },
		"no source in a bootstrap": func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap.FromBackup = nil },
	} {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			observed := plans.Standing(t, cluster)
			beginsWith(cluster, &observed, bucket)
			filling(cluster, &observed, 0, done())
			filling(cluster, &observed, 1, runs())
			change(cluster)

			stop := plans.Decide(cluster, observed)
			if len(plans.Removals(stop)) != 1 || plans.Removals(stop)[0].Kind.Kind != "Job" || plans.Removals(stop)[0].UID != "job1" || plans.Disrupts(stop) || plans.Writes(stop) {
				t.Fatal(plans.Text(stop))
			}
			observed.Restore.Jobs[1].Ending = true
			observed.Bystanders = []state.Bystander{{Name: "x-1", Cluster: plans.UID, Component: dbv1.ComponentRestore, Job: "job1"}}
			if wait := plans.Decide(cluster, observed); len(plans.Removals(wait)) > 0 || plans.Disrupts(wait) || plans.Writes(wait) || !strings.Contains(wait.Message, "waiting for pod x-1") {
				t.Fatal(plans.Text(wait))
			}
			observed.Restore.Jobs, observed.Bystanders[0].Ended = observed.Restore.Jobs[:1], true
			discard := plans.Decide(cluster, observed)
			if len(plans.Removals(discard)) != 2 || plans.Removals(discard)[0].Kind.Kind != "PersistentVolumeClaim" || plans.Removals(discard)[1].UID != "claim1" || plans.Writes(discard) {
				t.Fatal(plans.Text(discard))
			}
			observed.Volumes[0].Terminating, observed.Volumes[1].Terminating = true, true
			if wait := plans.Decide(cluster, observed); len(plans.Removals(wait)) > 0 || plans.Disrupts(wait) || plans.Writes(wait) || !strings.Contains(wait.Message, "is terminating") {
				t.Fatal(plans.Text(wait))
			}
			observed.Volumes = nil
			begin := plans.Decide(cluster, observed)
			if _, makes := plans.Find[operation.Create](begin, "create PersistentVolumeClaim"); makes != (state.FromBackup(cluster) != nil) || makes == (plans.Writes(begin)) {
				t.Error(plans.Text(begin))
			}
		})
	}
}

func TestFilledVolumesAreDeletedBeforeTheOthers(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	filling(cluster, &observed, 0, done())
	filling(cluster, &observed, 1, done())
	observed.Volumes[0].Fill, observed.Volumes[0].From = state.Filled, bucket
	cluster.Spec.Bootstrap.FromBackup.Location.URL = "s3://another"
	todo := plans.Decide(cluster, observed)
	if len(plans.Removals(todo)) != 1 || plans.Removals(todo)[0].UID != "claim0" {
		t.Error(plans.Text(todo))
	}
	observed.Volumes[0].Terminating = true
	if todo := plans.Decide(cluster, observed); len(plans.Removals(todo)) != 0 {
		t.Error("a claim goes that alone tells that another was never complete", plans.Text(todo))
	}
}

func TestABackupThatCannotBeRestoredStallsOrDelaysTheRestore(t *testing.T) {
	complete := func() *dbv1.DatabaseBackup {
		b := &dbv1.DatabaseBackup{}
		b.Status = dbv1.DatabaseBackupStatus{
			Phase: dbv1.BackupCompleted, Replicas: 2, Engine: "ledger", Location: bucket,
			Destination: &dbv1.BackupDestination{URL: "s3://bucket", Region: "r", CredentialsSecretName: "keys"},
		}
		return b
	}
	with := func(change func(*dbv1.DatabaseBackup)) *dbv1.DatabaseBackup {
		b := complete()
		change(b)
		return b
	}
	named := "DatabaseBackup first, which spec.bootstrap.fromBackup.name names,"
	cases := map[string]struct {
		backup *dbv1.DatabaseBackup
		stalls bool
		want   string
	}{
		"one that is complete":   {complete(), false, "creating the volumes"},
		"none":                   {nil, true, named + " does not exist. Name a DatabaseBackup of this namespace. If only its files are left, set spec.bootstrap.fromBackup.location instead, with their location as url"},
		"one that has not begun": {&dbv1.DatabaseBackup{}, false, "waiting for DatabaseBackup first, which spec.bootstrap.fromBackup.name names, to complete; its phase is Pending"},
		"one that runs":          {with(func(b *dbv1.DatabaseBackup) { b.Status.Phase = dbv1.BackupRunning }), false, "to complete; its phase is Running"},
		"one that failed":        {with(func(b *dbv1.DatabaseBackup) { b.Status.Phase, b.Status.Message = dbv1.BackupFailed, "no bucket" }), true, named + " failed and contains no data. Name another backup. Cause of the failure: no bucket"},
		"one that is deleted":    {with(func(b *dbv1.DatabaseBackup) { b.DeletionTimestamp = &metav1.Time{Time: plans.Now} }), true, named + " is terminating"},
		"one of more members":    {with(func(b *dbv1.DatabaseBackup) { b.Status.Replicas = 3 }), true, named + " has data of 3 members, but spec.replicas is 2. Set spec.replicas to 3; you can change it after the members have started"},
		"one of another engine":  {with(func(b *dbv1.DatabaseBackup) { b.Status.Engine = "other-v1" }), true, named + ` is a backup of engine "other-v1", but spec.engine is "ledger". Set spec.engine to "other-v1", or name another backup`},
		"one without credentials": {
			with(func(b *dbv1.DatabaseBackup) { b.Status.Destination.CredentialsSecretName = "" }), true,
			"destination names no credentials. Set spec.bootstrap.fromBackup.location with credentialsSecretName or with credentialSource: WorkloadIdentity",
		},
		"one without a location": {with(func(b *dbv1.DatabaseBackup) { b.Status.Destination = nil }), true, named + " does not record the location of its data"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			observed := plans.Standing(t, cluster)
			beginsWith(cluster, &observed, bucket)
			cluster.Spec.Bootstrap.FromBackup = &dbv1.BackupSource{Name: "first"}
			observed.Restore.Backup = c.backup
			todo := plans.Decide(cluster, observed)
			if !strings.Contains(todo.Message, c.want) || (todo.Stalled != nil) != c.stalls {
				t.Errorf("%s, want %q", plans.Text(todo), c.want)
			}
			if begun := plans.Disrupts(todo); begun == (todo.RequeueAfter > 0) || todo.RequeueAfter != 0 && todo.RequeueAfter != situation.MissingRequeue {
				t.Errorf("looked at again in %s", todo.RequeueAfter)
			}
		})
	}
}

func TestTheSourceByNameIsTheSameRestoreAsByItsLocation(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	filling(cluster, &observed, 0, runs())
	filling(cluster, &observed, 1, runs())
	cluster.Spec.Bootstrap.FromBackup = &dbv1.BackupSource{Name: "first"}
	if todo := plans.Decide(cluster, observed); len(plans.Removals(todo)) > 0 || plans.Disrupts(todo) || todo.Stalled == nil {
		t.Errorf("nobody knows what is to be restored plans.Now, so nothing may be taken away: %s", plans.Text(todo))
	}
	observed.Restore.Backup = &dbv1.DatabaseBackup{Status: dbv1.DatabaseBackupStatus{
		Phase: dbv1.BackupCompleted, Replicas: 2, Engine: "ledger", Location: bucket, Destination: &dbv1.BackupDestination{URL: "s3://bucket", CredentialsSecretName: "keys"},
	}}
	if todo := plans.Decide(cluster, observed); len(plans.Removals(todo)) > 0 || plans.Disrupts(todo) || todo.Stalled != nil {
		t.Error(plans.Text(todo))
	}
}

func TestADeletionStopsTheRestoreBeforeItsHooksRun(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	filling(cluster, &observed, 0, done())
	filling(cluster, &observed, 1, runs())
	cluster.DeletionTimestamp = &metav1.Time{Time: plans.Now}
	cluster.Spec.Deletion.Hooks = []dbv1.DeletionHook{{Name: "flush", Type: dbv1.HookCommand, Command: []string{"flush"}}}
	stop := plans.Decide(cluster, observed)
	if len(plans.Removals(stop)) != 1 || plans.Removals(stop)[0].UID != "job1" || plans.Disrupts(stop) || stop.Reason != dbv1.ReasonTerminating {
		t.Fatal(plans.Text(stop))
	}
	observed.Restore.Jobs = nil
	observed.Bystanders = []state.Bystander{{Name: "x-1", Cluster: plans.UID, Component: dbv1.ComponentRestore, Job: "job1"}}
	if wait := plans.Decide(cluster, observed); plans.Disrupts(wait) || !strings.Contains(wait.Message, "x-1") {
		t.Fatal(plans.Text(wait))
	}
	observed.Bystanders[0].Ended = true
	if _, runs := plans.Find[operation.Create](plans.Decide(cluster, observed), `start deletion hook "flush"`); !runs {
		t.Error(plans.Text(plans.Decide(cluster, observed)))
	}
}

func TestNoMemberStartsWithPartOfABackup(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	observed.Volumes = []state.Volume{{Claim: "data-orders-3", Ordinal: 3, Managed: true, Contents: state.Contents{Cluster: "earlier", Fill: state.Filling, From: "cut"}}}
	cluster.Spec.Replicas = 5
	todo := plans.Decide(cluster, observed)
	if _, got := situation.Of(cluster, observed).Extent(); got != 3 || todo.Stalled == nil || todo.Stalled.Reason != dbv1.ReasonVolumeConflict {
		t.Errorf("%d members: %s", got, plans.Text(todo))
	}
	cluster.Spec.Replicas = 3
	if todo := plans.Decide(cluster, observed); todo.Stalled != nil {
		t.Errorf("nobody needs that volume: %s", plans.Text(todo))
	}
}

func TestTheProgressOfARestore(t *testing.T) {
	progress := func(bytes, total int64) *jobs.Job {
		job := runs()
		job.Progress = &protocol.Progress{Bytes: bytes, TotalBytes: total}
		return job
	}
	filled := done()
	filled.Result = &protocol.Result{Bytes: 100} // by a version that did not record the total
	half := done()
	half.Result = &protocol.Result{Bytes: 40, TotalBytes: 100}
	running := dbv1.ClusterRestoreStatus{From: bucket, Phase: dbv1.RestoreRunning}
	cases := map[string]struct {
		jobs   []*jobs.Job
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   *dbv1.ClusterRestoreStatus
	}{
		"what every Job has done":       {jobs: []*jobs.Job{filled, progress(30, 50)}, want: with(running, 130, 150)},
		"no total while one is unknown": {jobs: []*jobs.Job{filled, progress(30, 0)}, want: with(running, 130, 0)},
		"as before while one is silent": {
			jobs: []*jobs.Job{filled, runs()},
			change: func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Status.Restore = &dbv1.ClusterRestoreStatus{From: bucket, Bytes: 120, TotalBytes: 150}
			},
			want: with(running, 120, 150),
		},
		"the total of the DatabaseBackup": {
			jobs: []*jobs.Job{progress(30, 0), progress(30, 0)},
			change: func(_ *dbv1.DatabaseCluster, o *state.Observed) {
				o.Restore.Backup = &dbv1.DatabaseBackup{Status: dbv1.DatabaseBackupStatus{Bytes: 200}}
			},
			want: with(running, 60, 200),
		},
		"complete once the claims are marked": {
			jobs: []*jobs.Job{filled, filled},
			change: func(c *dbv1.DatabaseCluster, o *state.Observed) {
				marked(o)
				c.Status.Restore = &dbv1.ClusterRestoreStatus{From: bucket, Phase: dbv1.RestoreRunning, Bytes: 200, TotalBytes: 200}
			},
			want: with(dbv1.ClusterRestoreStatus{From: bucket, Phase: dbv1.RestoreCompleted}, 200, 200),
		},
		"the total is the size of the backup, not the bytes read": {
			jobs: []*jobs.Job{half, filled},
			want: with(running, 140, 200),
		},
		"complete with the bytes read, and the size of the backup": {
			jobs: []*jobs.Job{half, filled},
			change: func(c *dbv1.DatabaseCluster, o *state.Observed) {
				marked(o)
				c.Status.Restore = &dbv1.ClusterRestoreStatus{From: bucket, Phase: dbv1.RestoreRunning}
			},
			want: with(dbv1.ClusterRestoreStatus{From: bucket, Phase: dbv1.RestoreCompleted}, 140, 200),
		},
		"nothing where the source was taken out": {
			jobs: []*jobs.Job{filled, progress(30, 50)},
			change: func(c *dbv1.DatabaseCluster, _ *state.Observed) {
				c.Spec.Bootstrap, c.Status.Restore = nil, &dbv1.ClusterRestoreStatus{From: bucket, Phase: dbv1.RestoreRunning}
			},
		},
		"nothing without members that were restored": {
			change: func(c *dbv1.DatabaseCluster, o *state.Observed) { *o = plans.Standing(t, c) },
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			observed := plans.Standing(t, cluster)
			beginsWith(cluster, &observed, bucket)
			for ordinal, job := range c.jobs {
				copied := *job
				filling(cluster, &observed, int32(ordinal), &copied)
			}
			if c.change != nil {
				c.change(cluster, &observed)
			}
			got := plans.Decide(cluster, observed).Restore
			if got != nil {
				got.Message = ""
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func with(s dbv1.ClusterRestoreStatus, bytes, total int64) *dbv1.ClusterRestoreStatus {
	s.Bytes, s.TotalBytes = bytes, total
	return &s
}

func TestEveryMemberOfARestoreHasAJobOfItsOwnName(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	beginsWith(cluster, &observed, bucket)
	filling(cluster, &observed, 0, nil)
	filling(cluster, &observed, 1, nil)
	step, ok := plans.Find[operation.Create](plans.Decide(cluster, observed), "restore ")
	if !ok || len(step.Objects) != 2 || step.Objects[0].Name() == step.Objects[1].Name() {
		t.Fatalf("%+v", step)
	}
}
