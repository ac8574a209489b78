/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// topologySequences change spec.engine of a cluster with data to an engine of another topology.
var topologySequences = []sequence{
	tell("topology-changed",
		runningSaved(2), changeEngine(pairEngine), lose("orders-1"), backUp("meanwhile", dbv1.BackupRetain), scale(1), changeEngine(engineName),
	),
	tell("topology-changed-pair",
		createPair(pairEngine), handOverTo("orders-2"), changeEngine(engineName), image("database:2"), scale(2), leads("orders-0"), changeEngine(pairEngine),
	),
	tell("topology-changed-voters", createVoters(), changeEngine(pairEngine), scale(1), changeEngine(voteEngine)),
	tell("topology-changed-while-hibernated",
		createPair(syncEngine), hibernate(true), changeEngine(engineName), hibernate(false), changeEngine(syncEngine), leads("orders-0"),
	),
	tell("topology-unknown",
		runningSaved(2), together(deleteEngine(engineName), changeEngine(otherEngine)), lose("orders-0"), declared(engineName),
	),
	tell("topology-of-a-previous-cluster",
		createPair(pairEngine), remove(), withEngine(create(3, saved)), remove(), told(createPair(pairEngine)),
	),
	tell("topology-changed-while-deleted",
		runningSaved(2, hook("final", dbv1.HookBackup), deleteVolumes), soon(4, changeEngine(pairEngine)), remove(),
	),
}

func deleteEngine(engine string) step {
	return step{what: "DatabaseEngine " + engine + " is deleted", do: func(w *world) {
		w.erase(get[*dbv1.DatabaseEngine](w.store, engine))
	}}
}

func declared(engine string) step {
	return step{what: "DatabaseEngine " + engine + " is created", do: func(w *world) { declare(w, engine) }}
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
	sequences = slices.Concat(sequences, topologySequences)
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
