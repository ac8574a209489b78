//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

const firstBackup, otherBackup = "s3://bucket/shop/orders/first-0a1b2c3d", "s3://bucket/shop/orders/other-4e5f6071"

// restorer creates an engine with a restore action for one test.
func restorer(t *testing.T) string {
	t.Helper()
	declared := &dbv1.DatabaseEngine{ObjectMeta: metav1.ObjectMeta{GenerateName: "restorer-"}}
	declared.Spec.Topology = dbv1.TopologyIndependent
	declared.Spec.Actions.Restore = &dbv1.EngineAction{Command: []string{"restore"}}
	createFor(t, declared)
	return declared.Name
}

// fromLocation makes a cluster start with a backup at a location.
func fromLocation(engine, url string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Engine = engine
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Location: &dbv1.BackupDestination{URL: url, CredentialSource: dbv1.CredentialsWorkloadIdentity}}}
	}
}

// restores is a kubelet that makes members ready and ends the pods of a restore as the test sets it.
type restores struct{ message atomic.Value }

const (
	hangs    = ""
	succeeds = "succeeds"
)

func (r *restores) act(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] != dbv1.ComponentRestore {
		healthy(pod)
		return
	}
	ended := &corev1.ContainerStateTerminated{Message: `{"bytes":100}`}
	switch message, _ := r.message.Load().(string); message {
	case hangs:
		pod.Status.Phase = corev1.PodRunning
		return
	case succeeds:
		pod.Status.Phase = corev1.PodSucceeded
	default: // refused as unsafe, which is never retried
		pod.Status.Phase = corev1.PodFailed
		ended.ExitCode, ended.Message = 30, fmt.Sprintf(`{"reason":"BackupCorrupt","message":%q}`, message)
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: naming.ActionContainer, Image: pod.Spec.Containers[0].Image, State: corev1.ContainerState{Terminated: ended},
	}}
}

func startRestores(t *testing.T, ns string) *restores {
	t.Helper()
	r := &restores{}
	kubelet(t, ns, r.act)
	return r
}

func dataClaims(t *testing.T, cluster *dbv1.DatabaseCluster) []corev1.PersistentVolumeClaim {
	t.Helper()
	return listed(t, cluster.Namespace, &corev1.PersistentVolumeClaimList{}, nil).Items
}

func mustHaveClaims(t *testing.T, cluster *dbv1.DatabaseCluster, want int) {
	t.Helper()
	if got := dataClaims(t, cluster); len(got) != want {
		t.Errorf("%d claims exist, want %d", len(got), want)
	}
}

func restoreJobs(t *testing.T, cluster *dbv1.DatabaseCluster) []batchv1.Job {
	t.Helper()
	return listed(t, cluster.Namespace, &batchv1.JobList{}, client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentRestore}).Items
}

// awaitFilling waits until a Job fills the volume of each member, and checks that no member exists yet.
func awaitFilling(t *testing.T, cluster *dbv1.DatabaseCluster, url string) {
	t.Helper()
	eventually(t, "the restore of "+url+" to run", func() error {
		running := 0
		for _, job := range restoreJobs(t, cluster) {
			if strings.Contains(strings.Join(job.Spec.Template.Spec.Containers[0].Command, " "), url) && job.Status.Active == 1 {
				running++
			}
		}
		return errorIf(running != int(cluster.Spec.Replicas), "%d Jobs run", running)
	})
	for _, claim := range dataClaims(t, cluster) {
		if claim.Annotations[dbv1.AnnotationRestoring] == "" || claim.Annotations[dbv1.AnnotationRestored] != "" {
			t.Errorf("claim %s has the annotations %v", claim.Name, claim.Annotations)
		}
	}
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(cluster), &appsv1.StatefulSet{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the StatefulSet already exists (%v)", err)
	}
}

func checkRestored(t *testing.T, cluster *dbv1.DatabaseCluster, url string) {
	t.Helper()
	mustHaveClaims(t, cluster, int(cluster.Spec.Replicas))
	for _, claim := range dataClaims(t, cluster) {
		if claim.Annotations[dbv1.AnnotationRestoring] != "" || claim.Annotations[dbv1.AnnotationRestored] != url || len(claim.OwnerReferences) > 0 {
			t.Errorf("claim %s has the annotations %v, owned by %v", claim.Name, claim.Annotations, claim.OwnerReferences)
		}
	}
	restore := read(t, cluster).Status.Restore
	if restore == nil || restore.Phase != dbv1.RestoreCompleted || restore.From != url {
		t.Errorf("status.restore %+v", restore)
	}
}

func TestANewClusterStartsWithANamedBackup(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	kubelet := startRestores(t, cluster.Namespace)
	cluster.Spec.Engine = restorer(t)
	cluster.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{Name: "first"}}
	create(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonRestoreFailed,
		"DatabaseBackup first", "does not exist", "spec.bootstrap.fromBackup.location")

	backup := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "first"}}
	backup.Spec.Cluster = "another"
	create(t, backup)
	before := backup.DeepCopy()
	backup.Status = dbv1.DatabaseBackupStatus{
		Phase: dbv1.BackupCompleted, Replicas: 3, Engine: cluster.Spec.Engine, Location: firstBackup, Bytes: 300,
		Destination: &dbv1.BackupDestination{URL: "s3://bucket", Endpoint: "http://s3.example.test", CredentialSource: dbv1.CredentialsWorkloadIdentity},
	}
	if err := admin.Status().Patch(t.Context(), backup, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	awaitFilling(t, cluster, firstBackup)
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonRestoring, firstBackup)
	if restore := cluster.Status.Restore; restore == nil || restore.Phase != dbv1.RestoreRunning || restore.TotalBytes != 300 {
		t.Errorf("status.restore %+v", restore)
	}
	job := restoreJobs(t, cluster)[0]
	command := strings.Join(job.Spec.Template.Spec.Containers[0].Command, " ")
	mustContain(t, command, "transfer restore --from "+firstBackup, "--members 3", "--endpoint http://s3.example.test", "-- restore")
	if len(job.Spec.Template.Spec.TopologySpreadConstraints) == 0 || !metav1.IsControlledBy(&job, cluster) {
		t.Errorf("%+v", job)
	}

	kubelet.message.Store(succeeds)
	awaitReady(t, cluster)
	checkRestored(t, cluster, firstBackup)
	if restore := cluster.Status.Restore; restore.Bytes != 300 {
		t.Errorf("status.restore %+v", restore)
	}
	events := eventsOf(t, cluster)
	mustContain(t, events, "RestoreStarted", "RestoreCompleted", "RestoreFailed")

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap.FromBackup.Name = "other" })
	awaitReady(t, cluster) // the cluster does not read it anymore
	checkRestored(t, cluster, firstBackup)
}

// eventsOf returns the reasons of the events about a cluster.
func eventsOf(t *testing.T, cluster *dbv1.DatabaseCluster) string {
	t.Helper()
	var reasons []string
	for _, event := range listed(t, cluster.Namespace, &corev1.EventList{}, nil).Items {
		if event.InvolvedObject.UID == cluster.UID {
			reasons = append(reasons, event.Reason)
		}
	}
	return strings.Join(reasons, " ")
}

// awaitReasons waits for events, which are written beside the pass: the cluster may not exist any more when they do.
func awaitReasons(t *testing.T, cluster *dbv1.DatabaseCluster, reasons ...string) {
	t.Helper()
	eventually(t, "events", func() error {
		got := eventsOf(t, cluster)
		return errorIf(!containsAll(got, reasons...), "%q", got)
	})
}

func TestAFailedRestoreRestartsWhenItsJobsAreDeleted(t *testing.T) {
	parallel(t)
	cluster := created(t, fromLocation(restorer(t), firstBackup))
	kubelet := startRestores(t, cluster.Namespace)
	kubelet.message.Store("piece member-0/00000.zst is not as the manifest says")
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonRestoreFailed,
		firstBackup, "PersistentVolumeClaim data-orders-", "piece member-0/00000.zst is not as the manifest says", "delete the Job")
	if cluster.Status.Restore == nil || cluster.Status.Restore.Phase != dbv1.RestoreFailed {
		t.Errorf("status.restore %+v", cluster.Status.Restore)
	}
	kubelet.message.Store(succeeds)
	eventually(t, "every Job to be deleted", func() error {
		for _, job := range restoreJobs(t, cluster) {
			if job.Status.Failed > 0 {
				_ = admin.Delete(t.Context(), &job, client.PropagationPolicy(metav1.DeletePropagationBackground))
			}
		}
		return errorIf(read(t, cluster).Status.Restore.Phase == dbv1.RestoreFailed, "a failed Job still exists")
	})
	awaitReady(t, cluster)
	checkRestored(t, cluster, firstBackup)
}

func TestARestoreFromAnotherSourceStartsWithEmptyVolumes(t *testing.T) {
	parallel(t)
	cluster := created(t, fromLocation(restorer(t), firstBackup))
	kubelet := startRestores(t, cluster.Namespace)
	awaitFilling(t, cluster, firstBackup)
	previous := map[types.UID]bool{}
	for _, claim := range dataClaims(t, cluster) {
		previous[claim.UID] = true
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap.FromBackup.Location.URL = otherBackup })
	awaitFilling(t, cluster, otherBackup)
	for _, claim := range dataClaims(t, cluster) {
		if previous[claim.UID] {
			t.Errorf("claim %s may hold a part of the other backup", claim.Name)
		}
	}
	for _, job := range restoreJobs(t, cluster) {
		if strings.Contains(strings.Join(job.Spec.Template.Spec.Containers[0].Command, " "), firstBackup) {
			t.Errorf("Job %s still restores %s", job.Name, firstBackup)
		}
	}
	kubelet.message.Store(succeeds)
	awaitReady(t, cluster)
	checkRestored(t, cluster, otherBackup)
}

func TestAnotherClusterDoesNotAdoptPartlyRestoredVolumes(t *testing.T) {
	parallel(t)
	cluster := created(t, fromLocation(restorer(t), firstBackup))
	startRestores(t, cluster.Namespace)
	awaitFilling(t, cluster, firstBackup)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	if left := restoreJobs(t, cluster); len(left) > 0 {
		t.Errorf("%d Jobs still exist", len(left))
	}
	mustHaveClaims(t, cluster, 3)

	again := smallest(cluster.Namespace, cluster.Name)
	again.Spec.Engine = cluster.Spec.Engine
	create(t, again)
	awaitTrue(t, again, dbv1.ConditionStalled, dbv1.ReasonVolumeConflict, "PersistentVolumeClaim data-orders-", "only part of its first data")
	for _, claim := range dataClaims(t, cluster) {
		remove(t, &claim)
	}
	awaitReady(t, again)
}

func TestARestoreDoesNotOverwriteVolumesOfAPreviousCluster(t *testing.T) {
	parallel(t)
	engine := restorer(t)
	cluster := created(t, func(c *dbv1.DatabaseCluster) { c.Spec.Engine = engine })
	startRestores(t, cluster.Namespace)
	awaitReady(t, cluster)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	kept := map[types.UID]bool{}
	for _, claim := range dataClaims(t, cluster) {
		kept[claim.UID] = true
	}

	again := smallest(cluster.Namespace, cluster.Name)
	fromLocation(engine, firstBackup)(again)
	create(t, again)
	awaitTrue(t, again, dbv1.ConditionStalled, dbv1.ReasonVolumeConflict, "data-orders-0", "data-orders-2", "never overwrites data")
	if jobs := restoreJobs(t, again); len(jobs) > 0 {
		t.Errorf("%d Jobs restore", len(jobs))
	}
	change(t, again, func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap = nil })
	awaitReady(t, again)
	for _, claim := range dataClaims(t, again) {
		if !kept[claim.UID] || claim.Annotations[dbv1.AnnotationRestoring] != "" {
			t.Errorf("claim %s has changed: %v", claim.Name, claim.Annotations)
		}
	}
}

func TestARestoreDoesNotOverwriteAClaimOfAnotherOwner(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "data-orders-1"}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	create(t, claim)
	kubelet := startRestores(t, cluster.Namespace)
	kubelet.message.Store(succeeds)
	fromLocation(restorer(t), firstBackup)(cluster)
	create(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonNameConflict, "PersistentVolumeClaim data-orders-1", "the operator does not change it")
	if jobs := restoreJobs(t, cluster); len(jobs) > 0 {
		t.Errorf("%d Jobs restore", len(jobs))
	}
	remove(t, claim)
	awaitReady(t, cluster)
	checkRestored(t, cluster, firstBackup)
}
