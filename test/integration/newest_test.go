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

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// fromNewest makes a cluster start with the newest backup, or with an empty database.
func fromNewest(engine string) func(*dbv1.DatabaseCluster) {
	return func(c *dbv1.DatabaseCluster) {
		c.Spec.Engine = engine
		at := dbv1.BackupDestination{URL: "s3://bucket", CredentialSource: dbv1.CredentialsWorkloadIdentity}
		c.Spec.Bootstrap = &dbv1.ClusterBootstrap{FromBackup: &dbv1.BackupSource{
			Newest: &dbv1.NewestBackup{Destination: at, ClusterNamespace: "shop", ClusterName: "orders"}, IfMissing: dbv1.IfMissingCreate,
		}}
	}
}

// searches is a kubelet that ends the pods of a search with a result, or fails them while there is none.
type searches struct {
	restores
	found atomic.Value
}

func startSearches(t *testing.T, ns string) *searches {
	t.Helper()
	s := &searches{}
	s.message.Store(succeeds)
	kubelet(t, ns, s.act)
	return s
}

func (s *searches) act(pod *corev1.Pod) {
	if pod.Labels[dbv1.LabelComponent] != dbv1.ComponentSearch {
		s.restores.act(pod)
		return
	}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	ended := &corev1.ContainerStateTerminated{ExitCode: 11, Message: `{"reason":"DestinationUnreachable","message":"The bucket does not answer."}`}
	pod.Status.Phase = corev1.PodFailed
	if found, _ := s.found.Load().(string); found != "" {
		pod.Status.Phase = corev1.PodSucceeded
		ended = &corev1.ContainerStateTerminated{Message: fmt.Sprintf(`{"found":%s}`, found)}
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: naming.ActionContainer, Image: pod.Spec.Containers[0].Image, State: corev1.ContainerState{Terminated: ended},
	}}
}

func TestANewClusterStartsWithTheNewestBackupOnceTheBucketAnswers(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	kubelet := startSearches(t, cluster.Namespace)
	engine := restorer(t)
	fromNewest(engine)(cluster)
	create(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonRestoreRetrying, "The bucket does not answer")
	if cluster.Status.Bootstrap != nil {
		t.Errorf("it is decided: %+v", cluster.Status.Bootstrap)
	}
	mustHaveClaims(t, cluster, 0)
	kubelet.found.Store(fmt.Sprintf(`{"location":%q,"engine":%q,"members":3,"completed":"2026-01-01T00:00:00Z"}`, firstBackup, engine))
	awaitReady(t, cluster)
	checkRestored(t, cluster, firstBackup)
	decided := cluster.Status.Bootstrap
	if decided == nil || decided.Decision != dbv1.BootstrapRestore || decided.Location != firstBackup || decided.Folder != "s3://bucket/shop/orders" || decided.Replicas != 3 {
		t.Errorf("status.bootstrap %+v", decided)
	}
	awaitReasons(t, cluster, "BackupChosen", "RestoreCompleted")
	search := listed(t, cluster.Namespace, &batchv1.JobList{}, client.MatchingLabels{dbv1.LabelComponent: dbv1.ComponentSearch}).Items
	if len(search) != 1 || !metav1.IsControlledBy(&search[0], cluster) {
		t.Fatalf("%d Jobs search", len(search))
	}
	mustContain(t, strings.Join(search[0].Spec.Template.Spec.Containers[0].Command, " "), "transfer search --at s3://bucket/shop/orders", "--id "+string(cluster.UID))

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Bootstrap.FromBackup.Newest.ClusterName = "others" })
	awaitReady(t, cluster) // the cluster does not look anymore
	checkRestored(t, cluster, firstBackup)
}

func TestANewClusterStartsEmptyWithoutABackup(t *testing.T) {
	parallel(t)
	cluster := smallest(namespace(t), "orders")
	kubelet := startSearches(t, cluster.Namespace)
	kubelet.found.Store("{}")
	fromNewest(restorer(t))(cluster)
	create(t, cluster)
	awaitReady(t, cluster)
	decided := cluster.Status.Bootstrap
	if decided == nil || decided.Decision != dbv1.BootstrapCreate || decided.Location != "" || cluster.Status.Restore != nil {
		t.Errorf("status.bootstrap %+v, status.restore %+v", decided, cluster.Status.Restore)
	}
	if jobs := restoreJobs(t, cluster); len(jobs) > 0 {
		t.Errorf("%d Jobs restore", len(jobs))
	}
	awaitEvent(t, cluster, corev1.EventTypeNormal, "NoBackupFound", "s3://bucket/shop/orders is empty or does not exist")
}
