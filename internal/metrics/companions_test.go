/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// pooler is a companion of which one of two pods is ready.
func pooler() *dbv1.DatabaseCompanion {
	c := &dbv1.DatabaseCompanion{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "pooler"}}
	c.Spec.ClusterRef.Name, c.Spec.Replicas = "orders", new(int32(2))
	c.Status.ReadyReplicas = 1
	c.Status.Conditions = []metav1.Condition{
		{Type: dbv1.ConditionReady, Status: metav1.ConditionFalse}, {Type: dbv1.ConditionAvailable, Status: metav1.ConditionTrue},
		{Type: "SomebodyElses", Status: metav1.ConditionTrue},
	}
	return c
}

func ofCompanion(t *testing.T, companion *dbv1.DatabaseCompanion) []string {
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(collector{func() (objects, error) {
		return objects{companions: []*dbv1.DatabaseCompanion{companion}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(series(t, registry), func(line string) bool { return strings.HasPrefix(line, leadingName) })
}

func TestACompanionHasTheSeriesOfItsPodsAndConditions(t *testing.T) {
	want := []string{
		"databasecompanion_spec_replicas{cluster=orders,name=pooler,namespace=shop} 2",
		"databasecompanion_status_condition{cluster=orders,name=pooler,namespace=shop,status=False,type=Available} 0",
		"databasecompanion_status_condition{cluster=orders,name=pooler,namespace=shop,status=False,type=Ready} 1",
		"databasecompanion_status_condition{cluster=orders,name=pooler,namespace=shop,status=True,type=Available} 1",
		"databasecompanion_status_condition{cluster=orders,name=pooler,namespace=shop,status=True,type=Ready} 0",
		"databasecompanion_status_ready_replicas{cluster=orders,name=pooler,namespace=shop} 1",
	}
	got := ofCompanion(t, pooler())
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// perCompanion is the highest number of series of one companion, which docs/metrics.md states.
const perCompanion = 10

func TestTheSeriesOfACompanionAreBounded(t *testing.T) {
	largest := pooler()
	for _, kind := range dbv1.CompanionConditions {
		largest.Status.Conditions = append(largest.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue})
	}
	if got := len(ofCompanion(t, largest)); got != perCompanion {
		t.Errorf("got %d series, want %d", got, perCompanion)
	}
}

func TestACompanionThatIsBeingDeletedHasNoSeries(t *testing.T) {
	deleted := pooler()
	deleted.DeletionTimestamp = &metav1.Time{}
	if got := ofCompanion(t, deleted); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}
