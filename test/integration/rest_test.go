//go:build integration

/*
SPDX-License-Identifier: Apache-2.0
*/

package integration

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// awaitNoClusters waits until the clusters of other tests are deleted, and their namespaces with the pods and claims: their requests and
// passes would be counted, too.
func awaitNoClusters(t *testing.T) {
	t.Helper()
	eventually(t, "the clusters of other tests to be deleted", func() error {
		clusters, namespaces := &dbv1.DatabaseClusterList{}, &corev1.NamespaceList{}
		if err := errors.Join(admin.List(t.Context(), clusters), admin.List(t.Context(), namespaces)); err != nil {
			return err
		}
		var left []client.ObjectKey
		for i := range clusters.Items {
			left = append(left, client.ObjectKeyFromObject(&clusters.Items[i]))
		}
		for i := range namespaces.Items {
			if namespaces.Items[i].DeletionTimestamp != nil {
				left = append(left, client.ObjectKeyFromObject(&namespaces.Items[i]))
			}
		}
		return errorIf(len(left) > 0, "%v still exist", left)
	})
}

// awaitPass triggers a pass for a cluster and waits until it has ended. Without a certificate, the annotation requests nothing.
func awaitPass(t *testing.T, cluster *dbv1.DatabaseCluster) {
	t.Helper()
	before := reconciles(t)
	change(t, cluster, annotated(dbv1.AnnotationRenewCertificate, time.Now().String()))
	eventually(t, "a pass", func() error { return errorIf(reconciles(t) == before, "none") })
}

func mustSendNothing(t *testing.T, since int) {
	t.Helper()
	if sent := requests.since(since); len(sent) > 0 {
		t.Errorf("%d requests: %v", len(sent), sent)
	}
}

func TestAnIdleOperatorSendsNoRequest(t *testing.T) {
	awaitNoClusters(t)
	cluster := ready(t, withConfig("a = 1"))
	since := awaitIdle(t)
	for range 3 {
		awaitPass(t, cluster)
	}
	awaitIdle(t)
	mustSendNothing(t, since)
}

func TestAnIdleOperatorReadsOnlyTheReferencesOfAWaitingCluster(t *testing.T) {
	awaitNoClusters(t)
	cluster := created(t, usePassword)
	create(t, password(cluster))
	change(t, cluster, annotated(dbv1.AnnotationRefresh, "0"))
	kubelet(t, cluster.Namespace, healthy)
	awaitReady(t, cluster)
	since := awaitIdle(t)
	for range 3 {
		awaitPass(t, cluster)
	}
	awaitIdle(t)
	get := "GET /api/v1/namespaces/" + cluster.Namespace + "/secrets/password"
	if sent := requests.since(since); !slices.Equal(sent, []string{get, get, get}) {
		t.Errorf("in three passes: %v", sent)
	}
}

// Frequent changes of fields that the operator does not read cause no pass.
func TestIrrelevantStatusChangesOfAChildCauseNoPass(t *testing.T) {
	awaitNoClusters(t)
	cluster := ready(t, nil)
	for i := range 3 {
		changeStatus(t, member(cluster, i), func(p *corev1.Pod) { p.Status.HostIP = "10.0.0.1" }) // it is read, for volumes that are measured
	}
	since, passes := awaitIdle(t), reconciles(t)
	for i := range 20 {
		pod := member(cluster, i%3)
		changeStatus(t, pod, func(p *corev1.Pod) {
			for j := range p.Status.Conditions {
				p.Status.Conditions[j].LastProbeTime = metav1.NewTime(time.Now().Add(time.Duration(i) * time.Second))
			}
			p.Status.PodIP = fmt.Sprintf("10.0.0.%d", i+2)
		})
		changeStatus(t, statefulSet(cluster), func(s *appsv1.StatefulSet) { s.Status.AvailableReplicas = int32(i % 3) })
	}
	awaitIdle(t)
	mustSendNothing(t, since)
	if more := reconciles(t) - passes; more > 0 {
		t.Errorf("%v passes for fields that the operator does not read", more)
	}
	awaitPass(t, cluster) // the watches have started
	awaitIdle(t)
	mustSendNothing(t, since)
}

func TestOneChangeOfStateIsOneWriteOfTheStatus(t *testing.T) {
	awaitNoClusters(t)
	cluster := started(t, nil, unlessStuck)
	pod := member(cluster, 1)
	change(t, pod, func(p *corev1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, "test/stuck", "true") })
	since := awaitIdle(t)
	changeStatus(t, pod, func(p *corev1.Pod) { setReady(p, corev1.ConditionFalse) })
	awaitCondition(t, cluster, dbv1.ConditionAvailable, metav1.ConditionFalse, dbv1.ReasonReplicasNotReady)
	awaitIdle(t)
	if sent := requests.in(cluster.Namespace, since); len(sent) != 1 || sent[0] != "PATCH databaseclusters/orders/status" {
		t.Errorf("want one write of the status, got %v", sent)
	}
}

// changeStatus edits the status of the latest version of an object.
func changeStatus[T client.Object](t *testing.T, object T, edit func(T)) {
	t.Helper()
	eventually(t, "change the status of "+object.GetName(), func() error {
		if err := admin.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		edit(object)
		return admin.Status().Update(t.Context(), object)
	})
}
