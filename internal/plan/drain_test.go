/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// cordoned are nodes of members that are cordoned, by the ordinals of the members.
func cordoned(ordinals ...int) change {
	return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
		for i := range o.Members {
			o.Members[i].Node = "n" + o.Members[i].Name[len("orders-"):]
		}
		for _, i := range ordinals {
			o.Members[i].Leaves = "is cordoned"
		}
	}
}

// since is a record of a primary on such a node, from that long ago.
func since(ago time.Duration, moves int32) change {
	return func(c *dbv1.DatabaseCluster, _ *state.Observed) {
		c.Status.Drain = &dbv1.ClusterDrainStatus{Pod: "orders-0", Node: "n0", Since: plans.Ago(ago), Moves: moves}
	}
}

func ignoresCordons(c *dbv1.DatabaseCluster, _ *state.Observed) {
	c.Spec.Disruption.OnCordon = dbv1.CordonIgnore
}

func drainPlan(t *testing.T, topology dbv1.EngineTopology, guarded bool, change change) string {
	t.Helper()
	c, o := plans.Related(t, topology)
	if guarded {
		plans.Guarded(t, c, &o)
	}
	change(c, &o)
	return plans.Text(plans.Decide(c, o))
}

func TestAPrimaryOnACordonedNodeHandsOverToAMemberOnAnotherNode(t *testing.T) {
	job := func(targets ...string) string {
		return "create Job " + naming.HandOverJob("orders", slices.Concat([]string{"pod-0", "drain"}, targets)...) + "\n"
	}
	for name, c := range map[string]struct {
		change change
		want   string
	}{
		"to any, if all others are on other nodes": {
			cordoned(0), job("any") + "HandingOver: node n0 is cordoned: the primary orders-0 hands over to orders-1 on node n1 or orders-2 on node n2\nagain in 5m0s\n",
		},
		"to the only one on another node": {
			cordoned(0, 1), job("pod-2") + "HandingOver: node n0 is cordoned: the primary orders-0 hands over to orders-2 on node n2\nagain in 5m0s\n",
		},
		"nothing waits while there is none":       {cordoned(0, 1, 2), "UpToDate: the cluster matches its spec\nagain in 5m0s\n"},
		"no other node matters to a good primary": {cordoned(1), "UpToDate: the cluster matches its spec\n"},
		"before a scale-in, to a member that stays": {
			all(cordoned(0), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 2 }),
			job("pod-1") + "HandingOver: node n0 is cordoned: the primary orders-0 hands over to orders-1 on node n1\nagain in 5m0s\n",
		},
		"to one that leaves, if no other is on another node": {
			all(cordoned(0), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 1 }),
			job("pod-1", "pod-2") + "HandingOver: node n0 is cordoned: the primary orders-0 hands over to orders-1 on node n1 or orders-2 on node n2\nagain in 5m0s\n",
		},
		"before a rollout, which takes longer": {
			all(cordoned(0), func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 2) }),
			job("any") + "HandingOver: node n0 is cordoned: the primary orders-0 hands over to orders-1 on node n1 or orders-2 on node n2\nagain in 5m0s\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := drainPlan(t, dbv1.TopologyPrimaryReplica, true, c.change); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

func TestAHandOverThatNothingAsksForDoesNotStartLater(t *testing.T) {
	job := jobs.Job{
		Name: naming.HandOverJob("orders", "pod-0", "drain", "any"), UID: "job", Component: dbv1.ComponentHandOver, Active: true,
		StartTime: new(plans.Ago(time.Minute)),
	}
	for started, want := range map[bool]bool{false: true, true: false} {
		job.Started = started
		got := drainPlan(t, dbv1.TopologyPrimaryReplica, false, func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Jobs = []jobs.Job{job} })
		if strings.Contains(got, "Job "+job.Name) != want {
			t.Errorf("started %t: got %s", started, got)
		}
	}
}

func TestARequestForAPrimaryThatWouldMoveAwayAgainIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		want   bool
	}{
		"a member on another node stays":                     {cordoned(1), true},
		"all have to leave":                                  {cordoned(0, 1, 2), false},
		"the one on another node does not serve":             {all(cordoned(0, 1), unready(time.Minute, 2)), false},
		"a cordon does not move the primary":                 {all(cordoned(1), ignoresCordons), false},
		"it was accepted before, so its Job may run already": {all(cordoned(1), has(dbv1.RequestHandOver, "orders-1", dbv1.RequestAccepted, "")), false},
	} {
		cluster, o := plans.Related(t, dbv1.TopologyPrimaryReplica)
		all(asks(dbv1.RequestHandOver, "orders-1"), c.change)(cluster, &o)
		record, found := plans.Find[operation.Record](plans.Decide(cluster, o), "record the request HandOver")
		refused := found && record.Request.State == dbv1.RequestRefused
		if refused != c.want || c.want && !strings.Contains(record.Request.Message, "node n1 of pod orders-1 is cordoned, so the primary would move away again") {
			t.Errorf("%s: got %+v", name, record.Request)
		}
	}
}

func TestARolloutHandsOverToAMemberThatMayStayOnItsNode(t *testing.T) {
	c, o := plans.Related(t, dbv1.TopologyPrimaryReplica)
	plans.Guarded(t, c, &o)
	plans.Outdated(&o, 0)
	cordoned(1)(c, &o)
	s := situation.Of(c, o)
	if got := s.Refuges(); len(got) != 1 || got[0].Name != "orders-2" {
		t.Errorf("%v can take over", got)
	}
	created := plans.Text(plans.Decide(c, o))
	if !strings.Contains(created, "create Job "+naming.HandOverJob("orders", "pod-0")+"\n") {
		t.Errorf("got %s", created)
	}
}

func TestThePrimaryIsGuardedOnlyWhileADrainMayWaitForAHandOver(t *testing.T) {
	for name, c := range map[string]struct {
		change change
		want   bool
	}{
		"no node is cordoned":  {cordoned(), false},
		"its node is":          {cordoned(0), true},
		"that of a replica is": {cordoned(1), true},
		"all are":              {cordoned(0, 1, 2), true},
		"for five minutes":     {all(cordoned(0, 1, 2), since(4*time.Minute, 0)), true},
		"and no longer":        {all(cordoned(0, 1, 2), since(5*time.Minute, 0)), false},
		"a primary that moves between such nodes": {all(cordoned(0, 1), since(time.Second, 2)), false},
		"not without another member that serves":  {all(cordoned(0), unready(time.Minute, 1, 2)), false},
		"not without a primary":                   {all(cordoned(0), roles("replica", "replica", "replica")), false},
		"not a primary that is not ready":         {all(cordoned(0), unready(time.Minute, 0)), false},
		"not two of them":                         {all(cordoned(0), roles("primary", "primary", "replica")), false},
		"not while paused":                        {all(cordoned(0), func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }), false},
		"not while hibernated":                    {all(cordoned(0), hibernated), false},
		"not while deleted":                       {all(cordoned(0), terminating), false},
		"not with onCordon: Ignore":               {all(cordoned(0), ignoresCordons), false},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, o := plans.Related(t, dbv1.TopologyPrimaryReplica)
			c.change(cluster, &o)
			if got := situation.Of(cluster, o).GuardsPrimary(); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
	voters, o := plans.Related(t, dbv1.TopologyConsensus)
	cordoned(0)(voters, &o)
	if situation.Of(voters, o).GuardsPrimary() {
		t.Error("members without a primary have a budget for it")
	}
}

// A pod that two budgets select cannot be evicted, so no pass may leave such a state, wherever it ends.
func TestTheBudgetsNeverOverlap(t *testing.T) {
	for name, c := range map[string]struct {
		guarded bool
		change  change
		has     string
		not     string
	}{
		"first the one of all members leaves the primary out": {false, cordoned(0), "update PodDisruptionBudget orders", "orders.primary"},
		"then the primary gets its own":                       {false, all(cordoned(0), splits(t)), "create PodDisruptionBudget orders.primary", "update"},
		"first that one is deleted":                           {true, cordoned(), "delete PodDisruptionBudget orders.primary", "update"},
		"then the other one selects all":                      {false, all(cordoned(), splits(t)), "update PodDisruptionBudget orders", "orders.primary"},
		"also while paused": {
			true, func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }, "delete PodDisruptionBudget orders.primary", "update",
		},
		"also while deleted": {true, terminating, "delete PodDisruptionBudget orders.primary", "update"},
	} {
		t.Run(name, func(t *testing.T) {
			got := drainPlan(t, dbv1.TopologyPrimaryReplica, c.guarded, c.change)
			if !strings.Contains(got, c.has) || strings.Contains(got, c.not) {
				t.Errorf("got:\n%s", got)
			}
		})
	}
}

// splits lets the budget of the members leave out the primary, which has no budget.
func splits(t *testing.T) change {
	return func(c *dbv1.DatabaseCluster, o *state.Observed) {
		plans.Guarded(t, c, o)
		o.PrimaryBudget = nil
	}
}

func TestTheRecordOfADrainStaysUntilThePrimaryIsOnAnotherNode(t *testing.T) {
	now := metav1.NewTime(plans.Now)
	minute := plans.Ago(time.Minute)
	for name, c := range map[string]struct {
		change change
		want   *dbv1.ClusterDrainStatus
	}{
		"it begins":                   {cordoned(0), &dbv1.ClusterDrainStatus{Pod: "orders-0", Node: "n0", Since: now}},
		"it stays":                    {all(cordoned(0), since(time.Minute, 1)), &dbv1.ClusterDrainStatus{Pod: "orders-0", Node: "n0", Since: minute, Moves: 1}},
		"without a primary, it stays": {all(cordoned(0), since(time.Minute, 0), unready(time.Second, 0)), &dbv1.ClusterDrainStatus{Pod: "orders-0", Node: "n0", Since: minute}},
		"another primary on such a node": {
			all(cordoned(1), since(time.Minute, 0), roles("replica", "primary", "replica")), &dbv1.ClusterDrainStatus{Pod: "orders-1", Node: "n1", Since: now, Moves: 1},
		},
		"it ends on another node":      {all(cordoned(0), since(time.Minute, 1), roles("replica", "primary", "replica")), nil},
		"it ends with the cordon":      {all(cordoned(), since(time.Minute, 1)), nil},
		"it ends with the last member": {all(cordoned(0), since(time.Minute, 1), hibernated), nil},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, o := plans.Related(t, dbv1.TopologyPrimaryReplica)
			c.change(cluster, &o)
			got := situation.Of(cluster, o).Drain()
			if (got == nil) != (c.want == nil) || got != nil && (got.Pod != c.want.Pod || got.Node != c.want.Node || !got.Since.Equal(&c.want.Since) || got.Moves != c.want.Moves) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
