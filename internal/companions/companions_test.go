/*
SPDX-License-Identifier: Apache-2.0
*/

package companions

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

func orders() *dbv1.DatabaseCluster {
	return &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "u"}}
}

func TestTheNameOfTheCompanionsExistsWhileOneCanPause(t *testing.T) {
	live := &corev1.Service{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(render(orders()).Object.Object, live); err != nil {
		t.Fatal(err)
	}
	open := live.DeepCopy()
	open.Spec.PublishNotReadyAddresses = true
	for name, c := range map[string]struct {
		facts    Facts
		deleting bool
		want     string
	}{
		"no companion":                   {Facts{}, false, ""},
		"the first one":                  {Facts{Pausing: true}, false, "create Service orders-companions"},
		"it exists":                      {Facts{Pausing: true, Service: live}, false, ""},
		"another client has changed it":  {Facts{Pausing: true, Service: open}, false, "update Service orders-companions (spec.publishNotReadyAddresses)"},
		"the last one was deleted":       {Facts{Service: live}, false, "delete Service orders-companions: no companion can pause"},
		"another owner has the name":     {Facts{Pausing: true, Taken: true}, false, ""},
		"the cluster is deleted as well": {Facts{Service: live}, true, ""},
	} {
		s := &situation.Situation{Cluster: orders()}
		s.Engine = &dbv1.DatabaseEngine{}
		if c.deleting {
			s.Cluster.DeletionTimestamp = &metav1.Time{}
		}
		state.Put(&s.Observed, c.facts)
		got := ""
		for _, o := range decide(s).Operations {
			got += o.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
