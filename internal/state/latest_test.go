/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func TestOnlyAMemberThatIsKnownToHaveEveryWriteIsTheLatest(t *testing.T) {
	lock := func(holder, term string) []Agreement {
		return []Agreement{{Name: "orders-config"}, {Name: "orders-leader", Holder: holder, Term: term}}
	}
	locks := &dbv1.DatabaseEngine{Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyPrimaryReplica, Roles: &dbv1.EngineRoles{}, State: &dbv1.EngineState{Lock: &dbv1.EngineLock{}}}}
	free := &dbv1.DatabaseEngine{Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyPrimaryReplica, Roles: &dbv1.EngineRoles{}}}
	at := func(generation int64, start, replicas int32) Extent {
		return Extent{UID: "set", Generation: generation, Start: start, Replicas: replicas}
	}
	ending := at(7, 0, 1)
	ending.Terminating = true
	votes := &dbv1.DatabaseEngine{Spec: dbv1.DatabaseEngineSpec{Topology: dbv1.TopologyConsensus}}
	cases := map[string]struct {
		engine     *dbv1.DatabaseEngine
		agreements []Agreement
		first      Contents
		now        Extent
		ordinal    int32
		known      bool
	}{
		"the holder of the lock, whatever is recorded":     {locks, lock("orders-2", "5"), Contents{Primary: "orders-1", Term: "4"}, Extent{}, 2, true},
		"the record, if the lock is free since":            {locks, lock("", "4"), Contents{Primary: "orders-1", Term: "4"}, Extent{}, 1, true},
		"none after a failover that was not seen":          {locks, lock("", "5"), Contents{Primary: "orders-1", Term: "4"}, Extent{}, 0, false},
		"none without the agreement":                       {locks, nil, Contents{Primary: "orders-1", Term: "4"}, Extent{}, 0, false},
		"none if the record has no term, but the lock has": {locks, lock("", "4"), Contents{Primary: "orders-1"}, Extent{}, 0, false},
		"the first member, before any had the lock":        {locks, lock("", ""), Contents{Primary: "orders-0"}, Extent{}, 0, true},
		"none without a record":                            {locks, lock("", ""), Contents{}, Extent{}, 0, false},
		"none after a failover while they stopped":         {locks, lock("orders-2", "5"), Contents{Term: "5"}, Extent{}, 0, false},
		"none if the holder is no member":                  {locks, lock("others-1", "5"), Contents{Primary: "orders-1", Term: "5"}, Extent{}, 0, false},

		"without a lock, the record of the same generation":  {free, nil, Contents{Primary: "orders-1", Term: "set/6"}, at(6, 1, 1), 1, true},
		"and of the one before, if all have stopped":         {free, nil, Contents{Primary: "orders-1", Term: "set/6"}, at(7, 0, 0), 1, true},
		"or if only that member runs":                        {free, nil, Contents{Primary: "orders-1", Term: "set/6"}, at(7, 1, 1), 1, true},
		"not if another one runs":                            {free, nil, Contents{Primary: "orders-1", Term: "set/6"}, at(7, 0, 1), 0, false},
		"nor if two run":                                     {free, nil, Contents{Primary: "orders-0", Term: "set/6"}, at(7, 0, 2), 0, false},
		"nor after two changes, because any member may have": {free, nil, Contents{Primary: "orders-1", Term: "set/6"}, at(8, 0, 0), 0, false},
		"nor of another StatefulSet":                         {free, nil, Contents{Primary: "orders-1", Term: "other/6"}, at(7, 0, 0), 0, false},
		"nor without a StatefulSet":                          {free, nil, Contents{Primary: "orders-1", Term: "set/6"}, Extent{}, 0, false},
		"nor a record without a generation":                  {free, nil, Contents{Primary: "orders-1"}, Extent{}, 0, false},
		"if it was seen to terminate, it is known without":   {free, nil, Contents{Primary: "orders-1", Term: noStatefulSet}, Extent{}, 1, true},
		"a StatefulSet that is terminating":                  {free, nil, Contents{Primary: "orders-0", Term: "set/6"}, ending, 0, true},
		"the first generation of the next StatefulSet":       {free, nil, Contents{Primary: "orders-0", Term: noStatefulSet}, at(1, 0, 1), 0, true},
		"not its second one":                                 {free, nil, Contents{Primary: "orders-0", Term: noStatefulSet}, at(2, 0, 1), 0, false},

		"the first of voters that were ready in the last stop":    {votes, nil, Contents{Primary: "orders-0", Term: "set/6", Voters: 3}, at(7, 0, 1), 0, true},
		"not if a majority runs since":                            {votes, nil, Contents{Primary: "orders-0", Term: "set/6", Voters: 3}, at(7, 0, 2), 0, false},
		"none of several voters that stopped in an unknown order": {votes, nil, Contents{Voters: 3}, at(7, 0, 0), 0, false},
		"the only voter": {votes, nil, Contents{Primary: "orders-0", Term: "set/6", Voters: 1}, at(6, 0, 1), 0, true},
		"not if the StatefulSet was scaled by hand since": {votes, nil, Contents{Primary: "orders-0", Term: "set/6", Voters: 1}, at(8, 0, 1), 0, false},
		"nor without a record":                            {votes, nil, Contents{Voters: 1}, at(6, 0, 1), 0, false},
		"none of voters whose number is unknown":          {votes, nil, Contents{}, Extent{}, 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if ordinal, known := Latest("orders", c.engine, c.agreements, c.first, c.now); ordinal != c.ordinal && c.known || known != c.known {
				t.Errorf("got %d, %t", ordinal, known)
			}
		})
	}
}

// The API server raises the generation when a deletion begins, also if the spec stays.
func TestADeletionOfAStatefulSetIsNoChangeOfItsMembers(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{UID: "set", Generation: 7}, Spec: appsv1.StatefulSetSpec{Replicas: new(int32(0))}}
	if changes, known := ExtentOf(set).Since("set/6"); changes != 1 || !known {
		t.Errorf("%d changes, known: %t", changes, known)
	}
	set.DeletionTimestamp = &metav1.Time{}
	if changes, known := ExtentOf(set).Since("set/6"); changes != 0 || !known {
		t.Errorf("terminating: %d changes, known: %t", changes, known)
	}
}
