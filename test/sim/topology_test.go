/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// topologySequences change spec.engine of a cluster with data to an engine of another topology.
var topologySequences = []world.Story{
	world.Tell("topology-changed",
		runningSaved(2), changeEngine(world.PairEngine), lose("orders-1"), backUp("meanwhile", dbv1.BackupRetain), scale(1), changeEngine(world.AnyEngine),
	),
	world.Tell("topology-changed-pair",
		createPair(world.PairEngine), handOverTo("orders-2"), changeEngine(world.AnyEngine), image("database:2"), scale(2), world.Leads("orders-0"), changeEngine(world.PairEngine),
	),
	world.Tell("topology-changed-voters", createVoters(), changeEngine(world.PairEngine), scale(1), changeEngine(world.VoteEngine)),
	world.Tell("topology-changed-while-hibernated",
		createPair(world.SyncEngine), hibernate(true), changeEngine(world.AnyEngine), hibernate(false), changeEngine(world.SyncEngine), world.Leads("orders-0"),
	),
	world.Tell("topology-unknown",
		runningSaved(2), together(deleteEngine(world.AnyEngine), changeEngine(world.OtherEngine)), lose("orders-0"), declared(world.AnyEngine),
	),
	world.Tell("topology-of-a-previous-cluster",
		createPair(world.PairEngine), remove(), withEngine(create(3, saved)), remove(), told(createPair(world.PairEngine)),
	),
	world.Tell("topology-changed-while-deleted",
		runningSaved(2, hook("final", dbv1.HookBackup), deleteVolumes), soon(4, changeEngine(world.PairEngine)), remove(),
	),
}

func deleteEngine(engine string) world.Step {
	return world.Step{What: "DatabaseEngine " + engine + " is deleted", Do: func(w *world.World) {
		w.Delete(store.Get[*dbv1.DatabaseEngine](w.Store, engine))
	}}
}

func declared(engine string) world.Step {
	return world.Step{What: "DatabaseEngine " + engine + " is created", Do: func(w *world.World) { declare(w, engine) }}
}

// topologyMutants are mistakes about the topology of data.
var topologyMutants = map[string]mutant{
	"all engines count as independent": {
		seenEngines(func(e *dbv1.DatabaseEngine) { e.Spec.Topology = dbv1.TopologyIndependent }),
		"topology-changed", "of another topology runs with it",
	},
	"all engines count as those of a primary": {
		seenEngines(func(e *dbv1.DatabaseEngine) { e.Spec.Topology = dbv1.TopologyPrimaryReplica }),
		"topology-changed-while-hibernated", "of another topology runs with it",
	},
}

func init() {
	maps.Copy(dataMutants, topologyMutants)
}

// seenEngines is an operator that reads other engines than there are.
func seenEngines(change func(*dbv1.DatabaseEngine)) interceptor.Funcs {
	return interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		err := c.Get(ctx, key, object, options...)
		if e, is := object.(*dbv1.DatabaseEngine); is && err == nil {
			change(e)
		}
		return err
	}}
}
