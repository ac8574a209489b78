/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

func TestTheGeneratedServiceAccountIsRecognizedByItsLabels(t *testing.T) {
	annotated := func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"} }
	plain := func(*dbv1.DatabaseCluster) {}
	cases := map[string]struct {
		cluster func(*dbv1.DatabaseCluster)
		labels  func(*corev1.ServiceAccount)
		created bool // by the record on the StatefulSet
		want    string
	}{
		"ours":                    {annotated, func(*corev1.ServiceAccount) {}, false, "read [] 1"},
		"of a previous cluster":   {annotated, func(a *corev1.ServiceAccount) { a.Labels[dbv1.LabelClusterUID] = "earlier" }, false, "read [] 1"},
		"of another owner":        {annotated, func(a *corev1.ServiceAccount) { a.Labels = nil }, false, "[{ServiceAccount orders  false}] 1"},
		"that is terminating":     {annotated, func(a *corev1.ServiceAccount) { a.Finalizers, a.DeletionTimestamp = []string{"test/keep"}, &moment }, false, "[{ServiceAccount orders  true}] 1"},
		"no longer wanted":        {plain, func(*corev1.ServiceAccount) {}, true, "read [] 1"},
		"that nobody expects":     {plain, func(*corev1.ServiceAccount) {}, false, "[] 0"},
		"of others, not expected": {plain, func(a *corev1.ServiceAccount) { a.Labels = nil }, true, "[] 1"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			cluster := running()
			c.cluster(cluster)
			account := &corev1.ServiceAccount{}
			account.Namespace, account.Name, account.Labels = "shop", "orders", naming.Labels(cluster, dbv1.ComponentDatabase)
			c.labels(account)
			set := &appsv1.StatefulSet{}
			set.Namespace, set.Name, set.Labels = "shop", "orders", naming.Labels(cluster, dbv1.ComponentDatabase)
			set.OwnerReferences = []metav1.OwnerReference{{Kind: "DatabaseCluster", Name: "orders", UID: cluster.UID, Controller: new(true)}}
			if c.created {
				set.Annotations = map[string]string{dbv1.AnnotationServiceAccount: "orders"}
			}
			s, reads := newServer(t, cluster, account, set), 0
			s.reads = func(object client.Object) error {
				if _, is := object.(*corev1.ServiceAccount); is {
					reads++
				}
				return nil
			}
			r := &Reconciler{Base: kit.Base{Cached: s, Live: s, Writer: apply.Writer{Client: s}, Clock: clocktesting.NewFakePassiveClock(moment.Time)}}
			seen, err := r.Observe(t.Context(), cluster, r.Reading(cluster, false))
			if err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(seen.Foreign, reads)
			if seen.ServiceAccount != nil {
				got = "read " + got
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
