/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Latest returns the ordinal of the member whose volume is known to have every acknowledged write, while no member runs. Of an engine
// with a lock, it is the holder. If the lock is free, it is the member that claim 0 records, as long as no other member has had the lock
// since. Without a lock, claim 0 records a member only while no other can accept a write. Of voters, a single one has everything.
//
// Unknown is never member 0: to start it alone, or to back it up, would continue without the writes of others.
func Latest(cluster string, declared *dbv1.DatabaseEngine, agreements []Agreement, first Contents) (ordinal int32, known bool) {
	holder, term := LockIn(agreements)
	switch {
	case engine.Consents(declared) && first.Voters == 1:
		return 0, true
	case holder != "":
		return naming.Ordinal(cluster, holder)
	case term != first.Term:
		return 0, false
	default:
		return naming.Ordinal(cluster, first.Primary)
	}
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
