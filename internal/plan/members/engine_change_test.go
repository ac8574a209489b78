/*
SPDX-License-Identifier: Apache-2.0
*/

package members_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/testing/plans"
)

// asksFor sets spec.engine to an engine of another topology than the data.
func asksFor(c *dbv1.DatabaseCluster, o *state.Observed, name string, topology dbv1.EngineTopology) {
	asked := &dbv1.DatabaseEngine{}
	asked.Name, asked.Spec.Topology, asked.Spec.Container.Port = name, topology, 1
	o.Change = engine.ChangeOf(engine.Named{Name: c.Spec.Engine, Declared: o.Engine}, engine.Named{Name: name, Declared: asked})
	c.Spec.Engine = name
}

const (
	notIndependent = "WaitingForReference: spec.engine is \"single-v1\" with the topology Independent, but the data is of engine \"ledger-v1\" " +
		"with the topology PrimaryReplica, which its members cannot use. Set spec.engine to \"ledger-v1\". " +
		"To change the topology, create a new DatabaseCluster, and copy the data with the tools of the database\n" + incompatible
	incompatible = "again in 10s\nSTALLED EngineIncompatible\n"
)

func TestAnEngineOfAnotherTopologyLeavesTheMembersAsTheyAre(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*dbv1.DatabaseCluster, *state.Observed)
		want   string
	}{
		"running members, with their Services and their template": {func(c *dbv1.DatabaseCluster, _ *state.Observed) {
			c.Spec.Image = "database:2"
		}, notIndependent},
		"a hibernated cluster does not resume": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members, o.StatefulSet.Spec.Replicas = nil, new(int32(0))
		}, notIndependent},
		"a StatefulSet that another client deleted is not re-created": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.Members, o.StatefulSet = nil, nil
		}, notIndependent},
		"a missing Secret does not hide it": {func(_ *dbv1.DatabaseCluster, o *state.Observed) {
			o.References = []pods.Reference{{Kind: "Secret", Name: "lost", Where: "spec.config"}}
		}, notIndependent},
		"an outdated member does not restart": {func(_ *dbv1.DatabaseCluster, o *state.Observed) { plans.Outdated(o, 1) }, notIndependent},
		"volumes grow, and the StatefulSet waits": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			c.Spec.Storage.Size, o.Volumes = resource.MustParse("2Gi"), o.Volumes[:1]
		}, "resize PersistentVolumeClaim data-orders-0 from 1Gi to 2Gi\n" + notIndependent},
		"the primary hands over before its member is removed": {func(c *dbv1.DatabaseCluster, o *state.Observed) {
			plans.Roles(o, "replica", "replica", "primary")
			c.Spec.Replicas = 2
		}, "create Job orders-handover-e0e3d25e\nHandingOver: pod orders-2 hands over to another member\n" + incompatible},
		"a paused cluster reports it, too": {func(c *dbv1.DatabaseCluster, _ *state.Observed) { c.Spec.Paused = true }, notIndependent},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
			asksFor(cluster, &observed, "single-v1", dbv1.TopologyIndependent)
			c.change(cluster, &observed)
			if got := plans.Text(plans.Decide(cluster, observed)); got != c.want {
				t.Errorf("got:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

// Without a declared engine no value of the engine in the spec may reach an object.
func TestMembersWithoutAnEngineKeepTheirServicesDuringARefusedChange(t *testing.T) {
	cluster := plans.Orders()
	observed := plans.Standing(t, cluster)
	cluster.Spec.Container.Port = 0 // as stored: the port comes from the engine or the default
	asksFor(cluster, &observed, "pair-v1", dbv1.TopologyPrimaryReplica)
	got := plans.Text(plans.Decide(cluster, observed))
	if !strings.HasPrefix(got, "WaitingForReference: ") || !strings.HasSuffix(got, incompatible) {
		t.Error(got)
	}
}

func TestADeletionDuringARefusedChangeStopsThePrimaryLast(t *testing.T) {
	cluster, observed := plans.Related(t, dbv1.TopologyPrimaryReplica)
	asksFor(cluster, &observed, "single-v1", dbv1.TopologyIndependent)
	plans.Roles(&observed, "replica", "replica", "primary")
	moment := plans.Ago(0)
	cluster.DeletionTimestamp = &moment
	got := plans.Text(plans.Decide(cluster, observed))
	if !strings.HasPrefix(got, "scale in to 2 from 1\n") || strings.Contains(got, "STALLED") {
		t.Error(got)
	}
}
