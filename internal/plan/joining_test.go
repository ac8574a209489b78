/*
SPDX-License-Identifier: Apache-2.0
*/

package plan_test

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

func TestNewReplicasCopyTheDataOneAfterAnother(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   int32
	}{
		"the first one": {func(*dbv1.DatabaseCluster, *state.Observed) {}, 4},
		"all of a cluster that is created, whose database is empty": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Status.ObservedGeneration = 0 }, 7},
		"not before the previous one has copied it":                 {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members[2].Ready = false }, 3},
		"nor before its pod exists":                                 {func(_ *dbv1.DatabaseCluster, o *state.Observed) { o.Members = o.Members[:2] }, 3},
		"after one that cannot start": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members[2].Ready, o.Members[2].Stuck, o.Members[2].Problem = false, true, "cannot be scheduled"
		}, 4},
		"those that have a volume, at once": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			for i := range int32(2) {
				kept := o.Volumes[2]
				kept.Ordinal = 3 + i
				o.Volumes = append(o.Volumes, kept)
			}
		}, 5},
		"a scale-in is not concerned": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Replicas = 2 }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
			cluster.Spec.Replicas, cluster.Status.ObservedGeneration = 7, 1
			c.change(cluster, &observed)
			if _, got := situation.Of(cluster, observed).Extent(); got != c.want {
				t.Errorf("%d members, want %d", got, c.want)
			}
		})
	}
}
