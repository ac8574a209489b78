//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// safe creates a ready cluster of two members whose engine backs up to a bucket. The function act plays the kubelet
// for the pods of Jobs.
func safe(t *testing.T, engine string, act func(*corev1.Pod)) *dbv1.DatabaseCluster {
	t.Helper()
	declared := ledger(t, engine)
	declared.Spec.Actions.Restore = &dbv1.EngineAction{Command: []string{"ledger", "restore"}}
	declared.Spec.Actions.Probe = &dbv1.EngineAction{Command: []string{"ledger", "probe"}}
	declared.Spec.SecretKeys = nil
	create(t, declared)
	cluster := created(t, func(c *dbv1.DatabaseCluster) {
		c.Spec.Engine, c.Spec.Replicas = engine, 2
		c.Spec.Backup = &dbv1.ClusterBackup{Destination: dbv1.BackupDestination{URL: "s3://backups/prod", Endpoint: "http://s3.example.test:7070", CredentialsSecretName: "bucket"}}
	})
	create(t, keys(cluster.Namespace, "bucket"))
	kubelet(t, cluster.Namespace, func(pod *corev1.Pod) {
		switch {
		case pod.Labels[dbv1.LabelComponent] == dbv1.ComponentDatabase:
			healthy(pod)
		case pod.Status.Phase == corev1.PodPending || pod.Status.Phase == corev1.PodRunning:
			act(pod)
		}
	})
	awaitReady(t, cluster)
	return cluster
}

// keys returns a Secret with keys of a bucket.
func keys(ns, name string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		StringData: map[string]string{"AWS_ACCESS_KEY_ID": "me", "AWS_SECRET_ACCESS_KEY": "secret"},
	}
}

// exits ends the main container of a Job's pod.
func exits(pod *corev1.Pod, code int32, message string) {
	pod.Status.Phase = corev1.PodFailed
	if code == 0 {
		pod.Status.Phase = corev1.PodSucceeded
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: naming.ActionContainer, State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Ended", Message: message},
	}}}
}

const backedUp = `{"bytes":1048576,"storedBytes":1024,"sha256":"ab","reason":"","message":""}`

func yields(pod *corev1.Pod) { exits(pod, 0, backedUp) }

// whenAllowed calls act for each pod once the test allows it.
func whenAllowed(allowed *atomic.Bool, act func(*corev1.Pod)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if allowed.Load() {
			act(pod)
		}
	}
}

func backup(t *testing.T, cluster *dbv1.DatabaseCluster, name string, policy dbv1.BackupDeletionPolicy) *dbv1.DatabaseBackup {
	t.Helper()
	b := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: name}}
	b.Spec = dbv1.DatabaseBackupSpec{Cluster: cluster.Name, DeletionPolicy: policy}
	create(t, b)
	return b
}

// awaitPhase waits until a backup is in a phase, and returns it.
func awaitPhase(t *testing.T, b *dbv1.DatabaseBackup, phase dbv1.BackupPhase, message string) *dbv1.DatabaseBackup {
	t.Helper()
	await(t, b, fmt.Sprintf("backup %s to be %s", b.Name, phase), func() bool {
		return b.Status.Phase == phase && strings.Contains(b.Status.Message, message)
	})
	return b
}

// awaitEvent waits for an event about an object with a type, a reason and a note.
func awaitEvent(t *testing.T, about client.Object, kind, reason, note string) {
	t.Helper()
	awaitEventThat(t, about, reason, func(e eventsv1.Event) bool { return e.Type == kind && strings.Contains(e.Note, note) })
}

func awaitEventThat(t *testing.T, about client.Object, reason string, fits func(eventsv1.Event) bool) {
	t.Helper()
	eventually(t, fmt.Sprintf("an event %s of %s", reason, about.GetName()), func() error {
		all := listed(t, about.GetNamespace(), &eventsv1.EventList{}, nil).Items
		found := slices.ContainsFunc(all, func(e eventsv1.Event) bool {
			return e.Regarding.UID == about.GetUID() && e.Reason == reason && fits(e)
		})
		return errorIf(!found, "%d other events", len(all))
	})
}

func jobs(t *testing.T, b *dbv1.DatabaseBackup, component string) []batchv1.Job {
	t.Helper()
	labels := client.MatchingLabels{dbv1.LabelBackupUID: string(b.UID), dbv1.LabelComponent: component}
	return listed(t, b.Namespace, &batchv1.JobList{}, labels).Items
}

// neverTwo fails the test when two backup Jobs run at the same time.
func neverTwo(t *testing.T, ns string) {
	t.Helper()
	repeat(t, func(ctx context.Context) {
		list := &batchv1.JobList{}
		_ = admin.List(ctx, list, client.InNamespace(ns), client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentBackup})
		var running []string
		for i := range list.Items {
			if len(list.Items[i].Status.Conditions) == 0 {
				running = append(running, list.Items[i].Name)
			}
		}
		if len(running) > 1 {
			t.Errorf("Jobs run at the same time: %v", running)
		}
	})
}

func TestBackupsOfAClusterRunOneAtATimeMemberByMember(t *testing.T) {
	parallel(t)
	var open atomic.Bool
	cluster := safe(t, "one-by-one-v1", whenAllowed(&open, yields))
	neverTwo(t, cluster.Namespace)
	first := backup(t, cluster, "first", dbv1.BackupRetain)
	awaitPhase(t, first, dbv1.BackupRunning, "backs up member 1 of 2")
	second := backup(t, cluster, "second", dbv1.BackupRetain)
	awaitPhase(t, second, dbv1.BackupPending, "waiting for DatabaseBackup first of the same cluster")
	if got := jobs(t, second, dbv1.ComponentBackup); len(got) != 0 {
		t.Errorf("%d Jobs before its queue position is first", len(got))
	}

	open.Store(true)
	for _, b := range []*dbv1.DatabaseBackup{first, second} {
		s := awaitPhase(t, b, dbv1.BackupCompleted, "").Status
		if s.Location != fmt.Sprintf("s3://backups/prod/%s/orders/%s-%s", b.Namespace, b.Name, naming.Short(b.UID)) || s.Replicas != 2 || len(s.Streams) != 2 {
			t.Errorf("%+v", s)
		}
		if s.Bytes != 2<<20 || s.StoredBytes != 2048 || s.Size != "2.0 MiB" || s.Streams[1].SHA256 != "ab" || s.Duration == "" {
			t.Errorf("%+v", s)
		}
		if s.ClusterUID != string(cluster.UID) || s.Engine != "one-by-one-v1" || s.Image != cluster.Spec.Image || s.Destination.CredentialsSecretName != "bucket" {
			t.Errorf("%+v", s)
		}
		if !meta.IsStatusConditionTrue(s.Conditions, dbv1.ConditionReady) || !meta.IsStatusConditionFalse(s.Conditions, dbv1.ConditionStalled) {
			t.Errorf("%+v", s.Conditions)
		}
		awaitEvent(t, b, corev1.EventTypeNormal, dbv1.ReasonBackupCompleted, s.Location)
	}
	if !second.Status.StartTime.After(first.Status.CompletionTime.Time) && !second.Status.StartTime.Equal(first.Status.CompletionTime) {
		t.Errorf("the second started at %s, the first ended at %s", second.Status.StartTime, first.Status.CompletionTime)
	}
	all := jobs(t, first, dbv1.ComponentBackup)
	for i := range all {
		complete := slices.Contains(all[i].Spec.Template.Spec.Containers[0].Command, "--complete")
		if last := all[i].Name == naming.BackupJob("orders", first.UID, 1); complete != last {
			t.Errorf("Job %s: complete %v", all[i].Name, complete)
		}
	}
}

func TestAFailedBackupReportsTheCauseAndDoesNotBlockTheNext(t *testing.T) {
	parallel(t)
	var good atomic.Bool
	cluster := safe(t, "failing-v1", func(pod *corev1.Pod) {
		if good.Load() {
			yields(pod)
			return
		}
		exits(pod, 30, `{"reason":"IdMismatch","message":"the folder belongs to another backup"}`)
	})
	bad := awaitPhase(t, backup(t, cluster, "bad", dbv1.BackupRetain), dbv1.BackupFailed, "the folder belongs to another backup")
	awaitEvent(t, bad, corev1.EventTypeWarning, dbv1.ReasonBackupFailed, "the folder belongs to another backup")
	good.Store(true)
	awaitPhase(t, backup(t, cluster, "next", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	if got := read(t, bad).Status.Phase; got != dbv1.BackupFailed {
		t.Errorf("the failed backup has %s", got)
	}
}

func TestABackupOfAMissingClusterIsPendingAndReportsIt(t *testing.T) {
	parallel(t)
	ns := namespace(t)
	early := backup(t, smallest(ns, "orders"), "early", dbv1.BackupRetain)
	awaitPhase(t, early, dbv1.BackupPending, "DatabaseCluster orders does not exist")
	awaitEvent(t, early, corev1.EventTypeWarning, dbv1.ReasonBackupPending, "DatabaseCluster orders does not exist")
	remove(t, early)
	awaitDeleted(t, early)
}

func TestADeletedJobIsRecreated(t *testing.T) {
	parallel(t)
	var open atomic.Bool
	cluster := safe(t, "deleted-job-v1", whenAllowed(&open, yields))
	b := awaitPhase(t, backup(t, cluster, "now", dbv1.BackupRetain), dbv1.BackupRunning, "backs up member 1 of 2")
	previous := jobs(t, b, dbv1.ComponentBackup)[0]
	remove(t, &previous, client.PropagationPolicy(metav1.DeletePropagationBackground))
	open.Store(true)
	awaitPhase(t, b, dbv1.BackupCompleted, "")
	if again := jobs(t, b, dbv1.ComponentBackup); len(again) != 2 || again[0].UID == previous.UID {
		t.Errorf("%d Jobs, the first is the previous Job: %v", len(again), again[0].UID == previous.UID)
	}
}

func TestADeletedBackupDeletesItsDataIfItsPolicyIsDelete(t *testing.T) {
	parallel(t)
	var open, refuses atomic.Bool
	cluster := safe(t, "removed-v1", func(pod *corev1.Pod) {
		switch {
		case pod.Labels[dbv1.LabelComponent] == dbv1.ComponentBackupDeletion && refuses.Load():
			exits(pod, 30, `{"reason":"IdMismatch","message":"that is another's"}`)
		case open.Load():
			yields(pod)
		}
	})
	open.Store(true)
	deleted := awaitPhase(t, backup(t, cluster, "gone", dbv1.BackupDelete), dbv1.BackupCompleted, "")
	stays := awaitPhase(t, backup(t, cluster, "stays", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	open.Store(false)
	for _, b := range []*dbv1.DatabaseBackup{deleted, stays} {
		remove(t, b)
	}
	awaitDeleted(t, stays)
	awaitEvent(t, stays, corev1.EventTypeWarning, "DataRetained", stays.Status.Location)
	if got := jobs(t, stays, dbv1.ComponentBackupDeletion); len(got) != 0 {
		t.Errorf("%d Jobs delete retained data", len(got))
	}
	eventually(t, "a Job that deletes the data", func() error {
		got := jobs(t, deleted, dbv1.ComponentBackupDeletion)
		return errorIf(len(got) != 1 || len(got[0].OwnerReferences) != 0, "%+v", got)
	})
	read(t, deleted) // the Job blocks its deletion
	open.Store(true)
	awaitDeleted(t, deleted)

	open.Store(false)
	refuses.Store(true)
	half := awaitPhase(t, backup(t, cluster, "half", dbv1.BackupDelete), dbv1.BackupRunning, "backs up member 1 of 2")
	remove(t, half)
	await(t, half, "DeletionBlocked to name the cause", func() bool {
		c := meta.FindStatusCondition(half.Status.Conditions, dbv1.ConditionDeletionBlocked)
		return c != nil && containsAll(c.Message, "that is another's", "set spec.deletionPolicy of DatabaseBackup half to Retain")
	})
	if got := jobs(t, half, dbv1.ComponentBackup); len(got) != 0 {
		t.Errorf("%d Jobs still write", len(got))
	}
	change(t, half, func(b *dbv1.DatabaseBackup) { b.Spec.DeletionPolicy = dbv1.BackupRetain })
	awaitDeleted(t, half)
}

func TestABackupIsVerifiedInATemporaryCopyThatIsDeleted(t *testing.T) {
	parallel(t)
	var corrupt atomic.Bool
	var policies atomic.Int32
	cluster := safe(t, "verified-v1", func(pod *corev1.Pod) {
		switch {
		case pod.Labels[dbv1.LabelComponent] != dbv1.ComponentVerification:
			yields(pod)
		case corrupt.Load():
			exits(pod, 1, "")
			pod.Status.ContainerStatuses[0].Name = "database"
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: naming.RestoreContainer, State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 30, Message: `{"reason":"BackupCorrupt","message":"piece member-0/00000.zst is not what was written"}`},
			}}}
		default:
			all := &networkingv1.NetworkPolicyList{}
			_ = admin.List(t.Context(), all, client.InNamespace(pod.Namespace), client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentVerification})
			policies.Add(int32(len(all.Items)))
			exits(pod, 0, `{"output":{"role":"primary"},"reason":"","message":""}`)
		}
	})
	b := awaitPhase(t, backup(t, cluster, "proved", dbv1.BackupRetain), dbv1.BackupCompleted, "")
	verify := func(request string, phase dbv1.BackupVerificationPhase) *dbv1.BackupVerification {
		change(t, b, func(b *dbv1.DatabaseBackup) { b.Annotations = map[string]string{dbv1.AnnotationVerify: request} })
		await(t, b, "the verification to be "+string(phase), func() bool {
			v := b.Status.Verification
			return v != nil && v.Request == request && v.Phase == phase
		})
		return b.Status.Verification
	}

	v := verify("today", dbv1.VerificationSucceeded)
	mustContain(t, v.Message, `{"role":"primary"}, {"role":"primary"}`)
	if v.StartTime == nil || v.CompletionTime == nil || !meta.IsStatusConditionTrue(b.Status.Conditions, dbv1.ConditionVerified) || policies.Load() < 2 {
		t.Errorf("%+v, %d policies seen", b.Status, policies.Load())
	}
	awaitEvent(t, b, corev1.EventTypeNormal, dbv1.ReasonVerified, "the restored copy answered")
	awaitNoCopy(t, b)

	corrupt.Store(true)
	mustContain(t, verify("tomorrow", dbv1.VerificationFailed).Message, "piece member-0/00000.zst is not what was written")
	awaitEvent(t, b, corev1.EventTypeWarning, dbv1.ReasonVerificationFailed, "piece member-0/00000.zst")
	awaitNoCopy(t, b)
	if v := b.Status.Verification; b.Status.Phase != dbv1.BackupCompleted || v.Phase != dbv1.VerificationFailed {
		t.Errorf("the backup has changed: %+v", b.Status)
	}
}

// awaitNoCopy waits until the temporary copies of a backup are deleted.
func awaitNoCopy(t *testing.T, b *dbv1.DatabaseBackup) {
	t.Helper()
	eventually(t, "the copies to be deleted", func() error {
		policy := &networkingv1.NetworkPolicyList{}
		if err := admin.List(t.Context(), policy, client.InNamespace(b.Namespace), client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentVerification}); err != nil {
			return err
		}
		left := jobs(t, b, dbv1.ComponentVerification)
		return errorIf(len(left) > 0 || len(policy.Items) > 0, "%d Jobs, %d policies", len(left), len(policy.Items))
	})
}

func TestADeletedNamespaceDeletesItsBackupsAndRetainsTheirData(t *testing.T) {
	parallel(t)
	cluster := safe(t, "namespace-v1", yields)
	b := awaitPhase(t, backup(t, cluster, "now", dbv1.BackupDelete), dbv1.BackupCompleted, "")
	deleteNamespace(t, b.Namespace)
	awaitDeleted(t, b)
}
