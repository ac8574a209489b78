//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"errors"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestABackupWithoutItsSecretDoesNotBlockOthersAndStartsWithIt(t *testing.T) {
	parallel(t)
	cluster := safe(t, "ledger-pass", yields)
	neverTwo(t, cluster.Namespace)
	first := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "first"}}
	first.Spec = dbv1.DatabaseBackupSpec{Cluster: cluster.Name, DeletionPolicy: dbv1.BackupRetain, Destination: cluster.Spec.Backup.Destination.DeepCopy()}
	first.Spec.Destination.CredentialsSecretName = "vault"
	create(t, first)
	awaitPhase(t, first, dbv1.BackupPending, "Secret vault")
	awaitEvent(t, first, corev1.EventTypeWarning, dbv1.ReasonReferenceMissing, "Secret vault")

	second := backup(t, cluster, "second", dbv1.BackupRetain)
	awaitPhase(t, second, dbv1.BackupCompleted, "")
	awaitPhase(t, first, dbv1.BackupPending, "Secret vault")
	create(t, keys(cluster.Namespace, "vault"))
	awaitPhase(t, first, dbv1.BackupCompleted, "")
}

func TestABackupReportsAPodOnALostNodeAndRetriesWhenThePodEnds(t *testing.T) {
	parallel(t)
	var back atomic.Bool
	cluster := safe(t, "ledger-lost", whenAllowed(&back, yields))
	neverTwo(t, cluster.Namespace)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "lost-"}}
	createFor(t, node)

	b := backup(t, cluster, "now", dbv1.BackupRetain)
	pod := podOf(t, b)
	bind := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node.Name}}
	if err := admin.SubResource("binding").Create(t.Context(), pod, bind); err != nil {
		t.Fatal(err)
	}
	change(t, node, func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "example.test/lost", Effect: corev1.TaintEffectNoExecute})
	})
	awaitPhase(t, b, dbv1.BackupRunning, "is being evicted from node "+node.Name)
	awaitEvent(t, b, corev1.EventTypeWarning, "JobRetrying", "is being evicted from node "+node.Name)

	// The node answers again and reports that the pod has ended.
	read(t, pod).Status.Phase = corev1.PodFailed
	if err := admin.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	back.Store(true)
	awaitPhase(t, b, dbv1.BackupCompleted, "")
}

// podOf waits for the first pod of a backup.
func podOf(t *testing.T, b *dbv1.DatabaseBackup) *corev1.Pod {
	t.Helper()
	pods := &corev1.PodList{}
	eventually(t, "a pod of backup "+b.Name, func() error {
		err := admin.List(t.Context(), pods, client.InNamespace(b.Namespace), client.MatchingLabels{dbv1.LabelBackupUID: string(b.UID)})
		if err == nil && len(pods.Items) == 0 {
			err = errors.New("no pod exists")
		}
		return err
	})
	return &pods.Items[0]
}
