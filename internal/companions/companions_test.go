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
	if !live.Spec.PublishNotReadyAddresses {
		t.Error("a pod that terminates has clients, and actions do not find it")
	}
	changed := live.DeepCopy()
	changed.Spec.PublishNotReadyAddresses = false
	for name, c := range map[string]struct {
		pausing  bool
		service  *corev1.Service
		taken    bool
		deleting bool
		want     string
	}{
		"no companion":                   {false, nil, false, false, ""},
		"the first one":                  {true, nil, false, false, "create Service orders-companions"},
		"it exists":                      {true, live, false, false, ""},
		"another client has changed it":  {true, changed, false, false, "update Service orders-companions (spec.publishNotReadyAddresses)"},
		"the last one was deleted":       {false, live, false, false, "delete Service orders-companions: no companion can pause"},
		"another owner has the name":     {true, nil, true, false, ""},
		"the cluster is deleted as well": {false, live, false, true, ""},
	} {
		s := &situation.Situation{Cluster: orders()}
		s.Engine = &dbv1.DatabaseEngine{}
		if c.deleting {
			s.Cluster.DeletionTimestamp = &metav1.Time{}
		}
		state.Put(&s.Observed, Facts{c.pausing})
		s.Companions = c.service
		if c.taken {
			s.Foreign = []state.Ref{{Kind: "Service", Name: "orders-companions"}}
		}
		got := ""
		for _, o := range decide(s).Operations {
			got += o.String()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
