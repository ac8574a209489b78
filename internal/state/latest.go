/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Latest returns the ordinal of the member whose volume is known to have every acknowledged write, while no other can accept one. Of an
// engine with a lock, it is the holder. If the lock is free, it is the member that claim 0 records, as long as no other member has had the
// lock since. Without a lock, claim 0 records a member only while no other can accept a write, and the record counts as long as the
// StatefulSet cannot have started another one since. A term without a member is a failover while the members stopped.
//
// Unknown is never member 0: to start it alone, or to back it up, would continue without the writes of others.
func Latest(cluster string, declared *dbv1.DatabaseEngine, agreements []Agreement, first Contents, now Extent) (ordinal int32, known bool) {
	holder, term := LockIn(agreements)
	if first.Primary == "" && first.Term == term && term != "" { // another member got the lock while they stopped
		return 0, false
	}
	if holder != "" {
		return naming.Ordinal(cluster, holder)
	}
	ordinal, known = naming.Ordinal(cluster, first.Primary)
	if engine.LockOf(declared) != nil {
		return ordinal, known && term == first.Term
	}
	return ordinal, known && now.keeps(declared, ordinal, first)
}

// LockIn returns the holder and the term of the lock in the agreements.
func LockIn(agreements []Agreement) (holder, term string) {
	for _, a := range agreements {
		if a.Term != "" || a.Holder != "" {
			return a.Holder, a.Term
		}
	}
	return "", ""
}

// Undecided returns from how many members on another member than the one that has everything can accept a write: two, or a majority of the
// voters.
func Undecided(declared *dbv1.DatabaseEngine, voters int32) int32 {
	if engine.Consents(declared) {
		return max(2, voters/2+1)
	}
	return 2
}

// Extent are the members that the StatefulSet runs, and the change of its spec since when it does.
type Extent struct {
	// UID and Generation identify the change. UID is "" if the StatefulSet does not exist. A deletion raises the generation without a change.
	UID        types.UID
	Generation int64
	// Start is the lowest ordinal.
	Start, Replicas int32
	// Terminating is true if the StatefulSet is being deleted, so it creates no pods.
	Terminating bool
}

// ExtentOf returns the extent of a StatefulSet; nil if it does not exist.
func ExtentOf(set *appsv1.StatefulSet) Extent {
	if set == nil {
		return Extent{}
	}
	o := Observed{StatefulSet: set}
	replicas, _ := o.Replicas()
	now := Extent{UID: set.UID, Generation: set.Generation, Start: o.Start(), Replicas: replicas, Terminating: set.DeletionTimestamp != nil}
	if now.Terminating {
		now.Generation--
	}
	return now
}

// Term is the text of the change for a record: see Contents. A StatefulSet that is terminating creates no pods any more, and is recorded
// as if it did not exist.
func (e Extent) Term() string {
	if e.UID == "" || e.Terminating {
		return noStatefulSet
	}
	return e.term(e.Generation)
}

func (e Extent) term(generation int64) string { return fmt.Sprintf("%s/%d", e.UID, generation) }

// Since returns how many changes of the spec there were since a record: 0 or 1. Each change raises the generation by one, so after one of
// them, only two extents have existed: the recorded one, and this one. known is false after more: any number of members may have run in
// between. A StatefulSet that was seen to terminate starts no pod, but one that is missing without that may have been scaled before. So
// after a re-creation in a hibernation, as for a larger volume, no member is known until the cluster has run again.
func (e Extent) Since(term string) (changes int, known bool) {
	before := e.term(e.Generation - 1)
	if e.Generation == 1 {
		before = noStatefulSet
	}
	switch {
	case e.Term() == term, e.UID != "" && e.term(e.Generation) == term:
		return 0, true
	default:
		return 1, e.UID != "" && before == term
	}
}

// keeps reports whether no other member can have accepted a write since the record of a member.
func (e Extent) keeps(declared *dbv1.DatabaseEngine, ordinal int32, record Contents) bool {
	changes, known := e.Since(record.Term)
	others := e.Replicas >= Undecided(declared, record.Voters)
	without := !engine.Consents(declared) && e.Replicas > 0 && e.Start != ordinal
	return known && (changes == 0 || !others && !without)
}
