//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// successor creates a cluster, deletes it, and returns another of the same name, not created yet.
func successor(t *testing.T) *dbv1.DatabaseCluster {
	t.Helper()
	cluster := ready(t, nil)
	remove(t, cluster)
	awaitDeleted(t, cluster)
	return smallest(cluster.Namespace, cluster.Name)
}

func TestVolumesOfAPreviousClusterAreAdopted(t *testing.T) {
	parallel(t)
	cluster := successor(t)
	create(t, cluster)
	awaitReady(t, cluster)
	for _, claim := range dataClaims(t, cluster) {
		if claim.Labels[dbv1.LabelClusterUID] != string(cluster.UID) {
			t.Errorf("claim %s has the labels %v", claim.Name, claim.Labels)
		}
	}
	awaitReasons(t, cluster, "VolumesAdopted")
}

func TestVolumesOfAnotherEngineAreNotAdoptedAndTheClusterReportsTheRemedy(t *testing.T) {
	parallel(t)
	cluster := successor(t)
	cluster.Spec.Engine = restorer(t)
	create(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonVolumeConflict,
		"PersistentVolumeClaim data-orders-0", cluster.Spec.Engine, dbv1.AnnotationEngine)
	set := &appsv1.StatefulSet{} // the StatefulSet of the previous cluster may still exist
	if err := admin.Get(t.Context(), client.ObjectKeyFromObject(cluster), set); !apierrors.IsNotFound(err) && (err != nil || metav1.IsControlledBy(set, cluster)) {
		t.Errorf("a StatefulSet of this name exists (%v)", err)
	}
	for _, claim := range dataClaims(t, cluster) {
		change(t, &claim, func(c *corev1.PersistentVolumeClaim) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, dbv1.AnnotationEngine, cluster.Spec.Engine)
		})
	}
	awaitReady(t, cluster)
}

func TestAClusterWaitsForATerminatingVolumeOfAPreviousCluster(t *testing.T) {
	parallel(t)
	cluster := successor(t)
	claim := dataClaims(t, cluster)[0]
	change(t, &claim, func(c *corev1.PersistentVolumeClaim) { c.Finalizers = append(c.Finalizers, "example.test/finalizer") })
	remove(t, &claim)
	create(t, cluster)
	awaitTrue(t, cluster, dbv1.ConditionStalled, dbv1.ReasonVolumeConflict,
		fmt.Sprintf("PersistentVolumeClaim %s", claim.Name), "is terminating")
	change(t, &claim, func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
	awaitReady(t, cluster)
}
