/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// headless is a cluster of three ready members without a primary, whose condition Available has known that for some time.
func headless(t *testing.T, lasts time.Duration, change func(*dbv1.DatabaseCluster, *state.Observed)) PassResult {
	t.Helper()
	cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
	plans.Roles(&observed, "replica", "replica", "replica")
	cluster.Status.Conditions = []metav1.Condition{{
		Type: dbv1.ConditionAvailable, Status: metav1.ConditionFalse, Reason: dbv1.ReasonNoPrimary, LastTransitionTime: plans.Ago(lasts),
	}}
	for i := range observed.Members {
		observed.Members[i].ReadySince = plans.Ago(time.Hour)
	}
	if change != nil {
		change(cluster, &observed)
	}
	return PassResult{Situation: situation.Of(cluster, observed), Plan: plan.Plan{Reason: dbv1.ReasonUpToDate}}
}

// A member may be the primary without its label: an admission policy or webhook can refuse that.
func TestMembersThatReportNoPrimaryAreDegradedAfterTheTimeOfAnElection(t *testing.T) {
	for name, c := range map[string]struct {
		lasts  time.Duration
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   bool
	}{
		"for long":                 {61 * time.Second, nil, true},
		"for a moment":             {59 * time.Second, nil, false},
		"one member has restarted": {time.Hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[1].ReadySince = plans.Ago(time.Second) }, true},
		"all members have just become ready": {time.Hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			for i := range o.Members {
				o.Members[i].ReadySince = plans.Ago(time.Second)
			}
		}, false},
		"a member went down a moment ago": {time.Hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[0].Ready, o.Members[0].ReadySince = false, plans.Ago(time.Second)
		}, false},
		"no member is ready": {time.Hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			for i := range o.Members {
				o.Members[i].Ready = false
			}
		}, false},
		"one is the primary":           {time.Hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Roles(o, "replica", "primary", "replica") }, false},
		"the cluster is hibernated":    {time.Hour, func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Hibernated = true }, false},
		"the cluster is being deleted": {time.Hour, func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.DeletionTimestamp = &now }, false},
		"an engine without roles":      {time.Hour, func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Engine.Spec.Roles = nil }, false},
	} {
		t.Run(name, func(t *testing.T) {
			degraded := meta.FindStatusCondition(Of(headless(t, c.lasts, c.change), now).Conditions, dbv1.ConditionDegraded)
			if got := degraded.Status == metav1.ConditionTrue && degraded.Reason == dbv1.ReasonNoPrimary; got != c.want {
				t.Fatalf("%+v", degraded)
			}
			if !c.want {
				return
			}
			for _, part := range []string{"orders-0, orders-1, orders-2", "for 1m0s", "kubectl -n shop logs orders-0 -c database", "403", "app.kubernetes.io/name=databasecluster"} {
				if degraded.Reason != dbv1.ReasonNoPrimary || !strings.Contains(degraded.Message, part) {
					t.Errorf("%s lacks %q", degraded.Message, part)
				}
			}
		})
	}
}

func TestAPassWithoutAPrimaryIsRepeatedWhenThatBecomesAProblem(t *testing.T) {
	if left, ok := headless(t, 20*time.Second, nil).PrimaryOverdue(); !ok || left != 40*time.Second {
		t.Errorf("%v %t", left, ok)
	}
}
