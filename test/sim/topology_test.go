/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// topologySequences change spec.engine of a cluster with data to an engine of another topology.
var topologySequences = []sequence{
	{"topology-changed", []step{
		runningSaved(2), changeEngine(pairEngine), lose("orders-1"), backUp("meanwhile", dbv1.BackupRetain), scale(1), changeEngine(engineName),
	}},
	{"topology-changed-pair", []step{
		createPair(pairEngine), handOverTo("orders-2"), changeEngine(engineName), image("database:2"), scale(2), leads("orders-0"), changeEngine(pairEngine),
	}},
	{"topology-changed-voters", []step{createVoters(), changeEngine(pairEngine), scale(1), changeEngine(voteEngine)}},
	{"topology-changed-while-hibernated", []step{
		createPair(syncEngine), hibernate(true), changeEngine(engineName), hibernate(false), changeEngine(syncEngine), leads("orders-0"),
	}},
	{"topology-unknown", []step{
		runningSaved(2), together(deleteEngine(engineName), changeEngine(otherEngine)), lose("orders-0"), declared(engineName),
	}},
	{"topology-of-a-previous-cluster", []step{
		createPair(pairEngine), remove(), withEngine(create(3, saved)), remove(), told(createPair(pairEngine)),
	}},
	{"topology-changed-while-deleted", []step{
		runningSaved(2, hook("final", dbv1.HookBackup), deleteVolumes), soon(4, changeEngine(pairEngine)), remove(),
	}},
}

func deleteEngine(engine string) step {
	return step{what: "DatabaseEngine " + engine + " is deleted", do: func(w *world) {
		deleted(w, get[*dbv1.DatabaseEngine](w.store, engine))
	}}
}

func declared(engine string) step {
	return step{what: "DatabaseEngine " + engine + " is created", do: func(w *world) { declare(w, engine) }}
}

// watchTopology: a volume is used by engines of one topology only.
func (w *world) watchTopology(claim string, on volume, engine string) {
	for before := range strings.FieldsSeq(on.engines) {
		if topologies[before] != topologies[engine] {
			w.breaks("claim %s has data of %s, and %s of another topology runs with it", claim, before, engine)
		}
	}
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
