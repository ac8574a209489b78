/*
SPDX-License-Identifier: Apache-2.0
*/

package apply_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// Every kind of Job is created by these two functions. So a kind whose decision forgets the ServiceAccount is refused, too.
func TestNoJobIsCreatedAsTheServiceAccountOfAnotherOwner(t *testing.T) {
	annotated := func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Annotations = map[string]string{"role": "orders"} }
	for name, c := range map[string]struct {
		cluster func(*dbv1.DatabaseCluster)
		account func(*corev1.ServiceAccount)
		exists  bool
		want    bool
	}{
		"its own":                    {annotated, func(*corev1.ServiceAccount) {}, true, true},
		"of another owner":           {annotated, func(a *corev1.ServiceAccount) { a.Labels = nil }, true, false},
		"of another cluster":         {annotated, func(a *corev1.ServiceAccount) { a.Labels[dbv1.LabelInstance] = "other" }, true, false},
		"terminating":                {annotated, terminating, true, false},
		"missing":                    {annotated, func(*corev1.ServiceAccount) {}, false, false},
		"named by the user":          {func(c *dbv1.DatabaseCluster) { c.Spec.ServiceAccount.Name = "orders" }, func(a *corev1.ServiceAccount) { a.Labels = nil }, true, true},
		"the default of a namespace": {func(*dbv1.DatabaseCluster) {}, func(a *corev1.ServiceAccount) { a.Labels = nil }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := plans.Orders()
			c.cluster(cluster)
			account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, Name: "orders", Labels: naming.Labels(cluster, "")}}
			c.account(account)
			store := fakeclient.For(clientgoscheme.Scheme)
			if c.exists {
				store = store.WithObjects(account)
			}
			server := store.Build()
			job := resources.HookJob(cluster, dbv1.DeletionHook{Name: "run", Command: []string{"true"}})
			writer := apply.Writer{Client: server, Live: server}
			_, created := writer.Create(t.Context(), job.Object)
			job.Object.SetName("other")
			_, made := writer.Create(t.Context(), job.Object)
			jobs := &batchv1.JobList{}
			if err := server.List(t.Context(), jobs); err != nil {
				t.Fatal(err)
			}
			if got := len(jobs.Items) == 2; got != c.want || (created == nil) != c.want || (made == nil) != c.want {
				t.Errorf("%d Jobs: %v, %v", len(jobs.Items), created, made)
			}
		})
	}
}

func terminating(a *corev1.ServiceAccount) {
	a.Finalizers, a.DeletionTimestamp = []string{"test/keep"}, &metav1.Time{Time: time.Now()}
}
