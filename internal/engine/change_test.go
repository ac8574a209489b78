/*
SPDX-License-Identifier: Apache-2.0
*/

package engine

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func named(name string, topology dbv1.EngineTopology, restoresFrom ...string) Named {
	declared := &dbv1.DatabaseEngine{}
	declared.Name, declared.Spec.Topology, declared.Spec.RestoresFrom = name, topology, restoresFrom
	return Named{Name: name, Declared: declared}
}

func TestAnEngineOfAnotherOrAnUnknownTopologyIsRefused(t *testing.T) {
	single, primary := named("single-v1", dbv1.TopologyIndependent), named("primary-v1", dbv1.TopologyPrimaryReplica, "single-v1")
	newer := named("primary-v2", dbv1.TopologyPrimaryReplica)
	newer.Declared.Spec.Roles = &dbv1.EngineRoles{Label: "another"}
	const copied = "create a new DatabaseCluster, and copy the data with the tools of the database"
	for name, c := range map[string]struct {
		data, asked Named
		want        string
	}{
		"the same engine":                            {single, single, ""},
		"the same engine, which no longer exists":    {Named{Name: "lost-v1"}, Named{Name: "lost-v1"}, ""},
		"another engine of the same topology":        {single, named("single-v2", dbv1.TopologyIndependent), ""},
		"the same topology with other roles":         {primary, newer, ""},
		"none, with independent members":             {single, Named{}, ""},
		"an engine for independent members":          {Named{}, single, ""},
		"an engine from before topologies had names": {single, named("first-v1", ""), ""},
		"one that restores backups of the other": {
			single, primary,
			`EngineIncompatible: spec.engine is "primary-v1" with the topology PrimaryReplica, but the data is of engine "single-v1" with the topology Independent, which its members cannot use. ` +
				`Set spec.engine to "single-v1". To change the topology, create a new DatabaseCluster with spec.engine "primary-v1" that restores a backup of this one (spec.bootstrap.fromBackup)`,
		},
		"the way back": {
			primary, single,
			`EngineIncompatible: spec.engine is "single-v1" with the topology Independent, but the data is of engine "primary-v1" with the topology PrimaryReplica, which its members cannot use. ` +
				`Set spec.engine to "primary-v1". To change the topology, ` + copied,
		},
		"a majority instead of a primary": {
			primary, named("vote-v1", dbv1.TopologyConsensus),
			`EngineIncompatible: spec.engine is "vote-v1" with the topology Consensus, but the data is of engine "primary-v1" with the topology PrimaryReplica, which its members cannot use. ` +
				`Set spec.engine to "primary-v1". To change the topology, ` + copied,
		},
		"no engine any more": {
			primary, Named{},
			`EngineIncompatible: spec.engine is "" with the topology Independent, but the data is of engine "primary-v1" with the topology PrimaryReplica, which its members cannot use. ` +
				`Set spec.engine to "primary-v1". To change the topology, ` + copied,
		},
		"the first engine": {
			Named{}, primary,
			`EngineIncompatible: spec.engine is "primary-v1" with the topology PrimaryReplica, but the data is of members without an engine with the topology Independent, which its members cannot use. ` +
				`Remove spec.engine. To change the topology, ` + copied,
		},
		"the engine of the data no longer exists": {
			Named{Name: "lost-v1"}, single,
			`EngineIncompatible: spec.engine is "single-v1", but the data is of engine "lost-v1", and its topology is unknown, because that DatabaseEngine cannot be read. ` +
				`Create DatabaseEngine lost-v1 again, or set spec.engine to "lost-v1"`,
		},
		"the engine of the spec does not exist": {
			single, Named{Name: "typo-v1"},
			"EngineMissing: spec.engine names DatabaseEngine typo-v1, which does not exist: create it, or choose one from kubectl get databaseengines",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			if change := ChangeOf(c.data, c.asked); change != nil {
				reason, message := change.Refusal()
				got = reason + ": " + message
			}
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestDuringARefusedChangeTheEngineOfTheDataIsInForce(t *testing.T) {
	cluster := &dbv1.DatabaseCluster{}
	cluster.Spec.Engine = "primary-v1"
	var none *RefusedChange
	if got := none.InForce(cluster); got != cluster {
		t.Errorf("without a change: %v", got)
	}
	change := &RefusedChange{Data: Named{Name: "single-v1"}, Asked: Named{Name: "primary-v1"}}
	if got := change.InForce(cluster).Spec.Engine; got != "single-v1" || cluster.Spec.Engine != "primary-v1" {
		t.Errorf("%q is in force, the spec has %q", got, cluster.Spec.Engine)
	}
}
