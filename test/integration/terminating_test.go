//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func deleteNamespace(t *testing.T, name string) *corev1.Namespace {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	remove(t, ns)
	return ns
}

func TestAHookInATerminatingNamespaceBlocksAndReportsTheRemedy(t *testing.T) {
	parallel(t)
	cluster := ready(t, withHook)
	ns := deleteNamespace(t, cluster.Namespace)
	awaitTrue(t, cluster, dbv1.ConditionDeletionBlocked, dbv1.ReasonHookFailed,
		`deletion hook "flush" cannot start`, "namespace "+cluster.Namespace+" is terminating",
		"spec.deletion.hookFailurePolicy", dbv1.AnnotationSkipDeletionHooks)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Deletion.HookFailurePolicy = dbv1.HookFailureContinue })
	awaitDeleted(t, ns)
}

func TestAHookInATerminatingNamespaceIsSkippedIfTheSpecSaysContinue(t *testing.T) {
	parallel(t)
	cluster := ready(t, func(c *dbv1.DatabaseCluster) {
		withHook(c)
		c.Spec.Deletion.HookFailurePolicy = dbv1.HookFailureContinue
	})
	awaitDeleted(t, deleteNamespace(t, cluster.Namespace))
}
