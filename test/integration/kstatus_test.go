//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// computed returns the state of a cluster as GitOps tools compute it.
func computed(t *testing.T, cluster *dbv1.DatabaseCluster) *status.Result {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(dbv1.GroupVersion.WithKind("DatabaseCluster"))
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(cluster), object); err != nil {
		t.Fatal(err)
	}
	result, err := status.Compute(object)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func mustBe(t *testing.T, cluster *dbv1.DatabaseCluster, want status.Status) {
	t.Helper()
	if got := computed(t, cluster); got.Status != want {
		t.Errorf("the state is %s (%s), want %s", got.Status, got.Message, want)
	}
}

func awaitState(t *testing.T, cluster *dbv1.DatabaseCluster, want status.Status) {
	t.Helper()
	eventually(t, "the state to be "+want.String(), func() error {
		got := computed(t, cluster)
		return errorIf(got.Status != want, "the state is %s (%s)", got.Status, got.Message)
	})
}

func TestGitOpsToolsSeeTheStateOfACluster(t *testing.T) {
	parallel(t)
	const bad = "example.test/database:bad"
	cluster := smallest(ownNamespace(t), "orders")
	atOnce(cluster)
	create(t, cluster)
	mustBe(t, cluster, status.InProgressStatus) // before the operator has seen it
	operator(t, kubeconfig(t, operatorUser, ""), nil, "--watch-namespace="+cluster.Namespace)
	awaitCondition(t, cluster, dbv1.ConditionAvailable, metav1.ConditionFalse, dbv1.ReasonReplicasNotReady)
	mustBe(t, cluster, status.InProgressStatus)
	kubelet(t, cluster.Namespace, broken(bad))
	awaitState(t, cluster, status.CurrentStatus)

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Image = bad })
	mustBe(t, cluster, status.InProgressStatus)
	awaitTrue(t, cluster, dbv1.ConditionDegraded, dbv1.ReasonMemberFailing)
	mustBe(t, cluster, status.InProgressStatus) // the author of the image must act, and may do so by a commit
	change(t, cluster, setSecondImage)
	mustBe(t, cluster, status.InProgressStatus)
	awaitState(t, cluster, status.CurrentStatus)

	change(t, cluster, usePassword)
	awaitState(t, cluster, status.FailedStatus)
	mustContain(t, computed(t, cluster).Message, "Secret password")
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Container.EnvFrom = nil })
	awaitState(t, cluster, status.CurrentStatus)

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = true })
	awaitState(t, cluster, status.CurrentStatus) // no work is left
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Image = "example.test/database:3" })
	awaitTrue(t, cluster, dbv1.ConditionProgressing, dbv1.ReasonPaused)
	mustBe(t, cluster, status.InProgressStatus)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Paused = false })
	awaitState(t, cluster, status.CurrentStatus)

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = true })
	mustBe(t, cluster, status.InProgressStatus)
	awaitState(t, cluster, status.CurrentStatus)
	if got := len(uids(t, cluster)); got > 0 {
		t.Errorf("Current with %d members although hibernated", got)
	}

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Hibernated = false })
	awaitState(t, cluster, status.CurrentStatus)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Finalizers = append(c.Finalizers, "test.example/hold") })
	remove(t, cluster)
	mustBe(t, cluster, status.TerminatingStatus)
	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Finalizers = without(c.Finalizers, "test.example/hold") })
	awaitDeleted(t, cluster)
}
