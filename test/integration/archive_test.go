//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// logging is a cluster of an engine with an archive.
func logging(t *testing.T, engine string) *dbv1.DatabaseCluster {
	t.Helper()
	e := ledger(t, engine)
	e.Spec.Actions.Archive = &dbv1.EngineAction{Command: []string{"ledger", "archive"}}
	create(t, e)
	cluster := smallest(namespace(t), "orders")
	leavesItTo(e.Name)(cluster)
	cluster.Spec.Backup = &dbv1.ClusterBackup{
		Destination: dbv1.BackupDestination{URL: "s3://backups/prod", CredentialsSecretName: "bucket"}, Archive: &dbv1.ClusterArchive{},
	}
	create(t, secretWith(cluster, "password"))
	return cluster
}

func archiveOf(cluster *dbv1.DatabaseCluster) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: cluster.Name + "-archive"}}
}

func TestTheArchiveFollowsTheSpecAndRestartsNoMember(t *testing.T) {
	parallel(t)
	cluster := logging(t, "logging")
	create(t, cluster)
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionContinuousArchiving, dbv1.ReasonArchiving, "s3://backups/prod/")
	set, deployment := read(t, statefulSet(cluster)), read(t, archiveOf(cluster))

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Archive.MaxLagSeconds = 60 })
	await(t, deployment, "the time of the spec", func() bool {
		args := deployment.Spec.Template.Spec.Containers[0].Command
		return len(args) > 0 && slices.Contains(args, "--max-lag")
	})
	byHand := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`))
	if err := admin.Patch(t.Context(), deployment, byHand); err != nil {
		t.Fatal(err)
	}
	await(t, deployment, "its pod again", func() bool { return *deployment.Spec.Replicas == 1 })
	awaitTrue(t, cluster, dbv1.ConditionContinuousArchiving, dbv1.ReasonArchiving, "s3://backups/prod/")

	change(t, cluster, func(c *dbv1.DatabaseCluster) { c.Spec.Backup.Archive = nil })
	await(t, cluster, "the Deployment to be deleted", func() bool {
		return apierrors.IsNotFound(admin.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment))
	})
	awaitReady(t, cluster)
	if after := read(t, statefulSet(cluster)); after.Generation != set.Generation || after.UID != set.UID {
		t.Errorf("the StatefulSet changed from generation %d to %d", set.Generation, after.Generation)
	}
}

func TestADeploymentOfAnotherOwnerIsNeverChangedAndDelaysNoMember(t *testing.T) {
	parallel(t)
	cluster := logging(t, "logging-elsewhere")
	foreign := archiveOf(cluster)
	foreign.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "archive"}}
	foreign.Spec.Template.Labels, foreign.Spec.Replicas = foreign.Spec.Selector.MatchLabels, new(int32)
	foreign.Spec.Template.Spec.Containers = []corev1.Container{{Name: "archive", Image: "archive:1"}}
	create(t, foreign)
	generation := read(t, foreign).Generation
	create(t, cluster)
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	awaitCondition(t, cluster, dbv1.ConditionContinuousArchiving, metav1.ConditionFalse, dbv1.ReasonArchiveBehind)
	if read(t, foreign).Generation != generation {
		t.Errorf("the operator wrote to the Deployment: %+v", foreign)
	}
}
