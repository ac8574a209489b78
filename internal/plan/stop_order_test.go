/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"fmt"
	"testing"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestThePrimaryStopsLast(t *testing.T) {
	left := func(start, replicas int32, roles ...string) change {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			set(o, start, replicas)
			plans.Roles(o, roles...)
		}
	}
	holder := func(pod, term string) change {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Agreements = plans.Agreed()
			o.Agreements[0].Holder, o.Agreements[0].Term = pod, term
			o.Volumes[0].Primary, o.Volumes[0].Term = "orders-2", "5"
		}
	}
	for name, c := range map[string]struct {
		change change
		want   string
	}{
		"the highest of the others first":                  {roles("primary", "replica", "replica"), "scale in to 2: orders-2"},
		"in the middle, too":                               {roles("replica", "primary", "replica"), "scale in to 2: orders-2"},
		"then the lowest":                                  {left(0, 2, "replica", "primary"), "scale in to 1 from 1: orders-0"},
		"of the highest, from the lowest on":               {roles("replica", "replica", "primary"), "scale in to 2 from 1: orders-0"},
		"the next lowest":                                  {left(1, 2, "replica", "primary"), "scale in to 1 from 2: orders-1"},
		"after a failover the highest again":               {left(1, 2, "primary", "replica"), "scale in to 1 from 1: orders-2"},
		"then the primary":                                 {left(2, 1, "primary"), "scale in to 0: orders-2"},
		"the holder of the lock, before its label says so": {all(roles("primary", "replica", "replica"), holder("orders-2", "6")), "scale in to 2 from 1: orders-0"},
		"the last primary while there is none":             {all(roles("", "replica", "replica"), holder("", "5")), "scale in to 2 from 1: orders-0"},
		"a labeled one that is not ready":                  {all(roles("replica", "replica", "primary"), unready(time.Hour, 2)), "scale in to 2 from 1: orders-0"},
		"the primary if nobody is known":                   {all(roles("primary", "replica", "replica"), holder("", "6")), "scale in to 2: orders-2"},
		"the highest if there is none, either":             {all(roles("replica", "replica", "replica"), holder("", "6")), "scale in to 2: orders-2"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, stop := range []change{hibernated, terminating} {
				cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
				stop(cluster, &observed)
				c.change(cluster, &observed)
				scale, _ := plans.Find[operation.Change](plans.Decide(cluster, observed), "scale in ")
				if got := fmt.Sprintf("%s: %s", scale, scale.Stops); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}

// Without its engine, a cluster has no roles.
func TestTheRecordedPrimaryStopsLastWithoutTheEngine(t *testing.T) {
	cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
	terminating(cluster, &observed)
	observed.Engine, observed.Volumes[0].Primary = nil, "orders-2"
	scale, _ := plans.Find[operation.Change](plans.Decide(cluster, observed), "scale in ")
	if scale.Stops != "orders-0" || scale.Text != "scale in to 2 from 1" {
		t.Errorf("%+v", scale)
	}
}

func TestAPrimaryWhoseVolumeIsBeingDeletedHandsOverBeforeAllStop(t *testing.T) {
	job := naming.HandOverJob("orders", "pod-2")
	ends := func(ordinals ...int) change {
		return func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			for _, ordinal := range ordinals {
				o.Volumes[ordinal].Terminating = true
			}
		}
	}
	last := roles("replica", "replica", "primary")
	const stops = "scale in to 2 from 1\nTerminating: scaling in from 3 to 0 members, one at a time\n"
	hands := "create Job " + job + "\nHandingOver: pod orders-2 hands over to another member\n"
	decideRelated(t, dbv1.TopologyPrimaryReplica, map[string]scenario{
		"in a hibernation":                        {all(hibernated, last, ends(2)), hands},
		"in a deletion":                           {all(terminating, last, ends(2)), hands},
		"to none whose volume is deleted as well": {all(terminating, last, ends(0, 1, 2)), stops},
		"to none that does not serve":             {all(terminating, last, ends(2), unready(time.Hour, 0, 1)), stops},
		"in a deletion once":                      {all(terminating, last, ends(2), task(plans.Task(job, false))), stops},
		"not a replica":                           {all(terminating, last, ends(0)), stops},
	})
}
