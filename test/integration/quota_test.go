//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// limited creates a quota in a namespace. It refuses every pod without resource requests and limits.
func limited(t *testing.T, ns, cpu, memory string) {
	t.Helper()
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "compute"}}
	quota.Spec.Hard = corev1.ResourceList{
		corev1.ResourceLimitsCPU: resource.MustParse(cpu), corev1.ResourceLimitsMemory: resource.MustParse(memory),
		corev1.ResourceRequestsCPU: resource.MustParse(cpu), corev1.ResourceRequestsMemory: resource.MustParse(memory),
	}
	create(t, quota)
	await(t, quota, "the quota to be in force", func() bool { return len(quota.Status.Hard) > 0 })
}

func TestABackupCompletesInANamespaceWithAQuotaAndWithoutALimitRange(t *testing.T) {
	parallel(t)
	cluster := safe(t, "ledger-quota", yields)
	limited(t, cluster.Namespace, "3", "3Gi")
	awaitPhase(t, backup(t, cluster, "now", dbv1.BackupRetain), dbv1.BackupCompleted, "")
}

func TestABackupOverQuotaReportsItAndCompletesWithSmallerRequests(t *testing.T) {
	parallel(t)
	cluster := safe(t, "ledger-refused", yields)
	limited(t, cluster.Namespace, "1", "3Gi")
	b := backup(t, cluster, "now", dbv1.BackupRetain)
	b = awaitPhase(t, b, dbv1.BackupRunning, "exceeded quota: compute")
	awaitEvent(t, b, corev1.EventTypeWarning, dbv1.ReasonJobBlocked, "exceeded quota: compute")
	if is := meta.FindStatusCondition(b.Status.Conditions, dbv1.ConditionStalled); is == nil || is.Reason != dbv1.ReasonJobBlocked {
		t.Errorf("%+v", is)
	}
	change(t, cluster, func(c *dbv1.DatabaseCluster) {
		c.Spec.Backup.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("500m")}
	})
	awaitPhase(t, b, dbv1.BackupCompleted, "")
}
