/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestOnlyAMemberThatIsKnownToHaveEveryWriteIsTheLatest(t *testing.T) {
	lock := func(holder, term string) []Agreement {
		return []Agreement{{Name: "orders-config"}, {Name: "orders-leader", Holder: holder, Term: term}}
	}
	locks := &dbv1.DatabaseEngine{Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyPrimaryReplica, Roles: &dbv1.EngineRoles{}}}
	votes := &dbv1.DatabaseEngine{Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyConsensus}}
	cases := map[string]struct {
		engine     *dbv1.DatabaseEngine
		agreements []Agreement
		first      Contents
		ordinal    int32
		known      bool
	}{
		"the holder of the lock, whatever is recorded":            {locks, lock("orders-2", "5"), Contents{Primary: "orders-1", Term: "4"}, 2, true},
		"the record, if the lock is free since":                   {locks, lock("", "4"), Contents{Primary: "orders-1", Term: "4"}, 1, true},
		"none after a failover that was not seen":                 {locks, lock("", "5"), Contents{Primary: "orders-1", Term: "4"}, 0, false},
		"none without the agreement":                              {locks, nil, Contents{Primary: "orders-1", Term: "4"}, 0, false},
		"none if the record has no term, but the lock has":        {locks, lock("", "4"), Contents{Primary: "orders-1"}, 0, false},
		"the first member, before any had the lock":               {locks, lock("", ""), Contents{Primary: "orders-0"}, 0, true},
		"none without a record":                                   {locks, lock("", ""), Contents{}, 0, false},
		"none if the holder is no member":                         {locks, lock("others-1", "5"), Contents{Primary: "orders-1", Term: "5"}, 0, false},
		"the record of an engine that declares no lock":           {locks, nil, Contents{Primary: "orders-1"}, 1, true},
		"the first of voters that were ready in the last stop":    {votes, nil, Contents{Primary: "orders-0", Voters: 3}, 0, true},
		"none of several voters that stopped in an unknown order": {votes, nil, Contents{Voters: 3}, 0, false},
		"the only voter":                         {votes, nil, Contents{Voters: 1}, 0, true},
		"none of voters whose number is unknown": {votes, nil, Contents{}, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if ordinal, known := Latest("orders", c.engine, c.agreements, c.first); ordinal != c.ordinal && c.known || known != c.known {
				t.Errorf("got %d, %t", ordinal, known)
			}
		})
	}
}
