/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// DataIn identifies the data in a complete backup, of each member: by the UID of the claim and by the database. Members of one database
// have the same data on each volume, so their volumes do not count. A backup without a record of the claim has the data of one that is
// older than the backup, or of an unknown one that has been replaced since.
func DataIn(observed state.Observed, b state.Backup) []state.Data {
	all := slices.Clone(b.Data[:b.Members])
	for ordinal := range all {
		switch of := &all[ordinal]; {
		case engine.Related(observed.Engine):
			of.Volume = ""
		case of.Volume == "":
			of.Volume = unrecorded(observed, b, int32(ordinal))
		}
	}
	return all
}

func unrecorded(observed state.Observed, b state.Backup, ordinal int32) types.UID {
	v, exists := state.First(observed.Volumes, func(v state.Volume) bool { return v.Ordinal == ordinal })
	if !exists || v.Created.After(b.Created.Time) {
		return types.UID(fmt.Sprintf("replaced volume of member %d", ordinal))
	}
	return v.UID
}

// Replaces reports whether a newer backup has all data of an older one, so that it counts instead of it.
func Replaces(observed state.Observed, newer, older state.Backup) bool {
	return !slices.ContainsFunc(DataIn(observed, older), func(d state.Data) bool { return !Has(observed, newer, d) })
}

// Has reports whether a backup has this data. Data of a known database is only in a backup that records the same one: another backup may
// be of a database that was created again on the same volume.
func Has(observed state.Observed, b state.Backup, d state.Data) bool {
	return slices.ContainsFunc(DataIn(observed, b), func(of state.Data) bool {
		return of.Volume == d.Volume && (of.Identity == d.Identity || d.Identity == "")
	})
}

// Former returns the newest backup, older than this one, in which a member has another volume or database.
func Former(observed state.Observed, than state.Backup) (state.Backup, bool) {
	return observed.Newest(func(b state.Backup) bool {
		differs := false
		for ordinal := range min(b.Members, than.Members) {
			differs = differs || b.Data[ordinal].Differs(than.Data[ordinal])
		}
		return differs && usable(b) && state.Younger(than, b) > 0
	})
}

// IsPresent reports whether a backup has the data of the volumes that the members use, and not of those before a DatabaseRestore replaced
// the data, or gave it back. That outlives the DatabaseRestore. Without a record of its cluster, a backup counts.
func IsPresent(cluster *dbv1.DatabaseCluster, b state.Backup) bool {
	return b.Lineage == "" || b.Lineage == naming.Lineage(string(cluster.UID), naming.ClaimTemplate(cluster))
}

// Replacer describes the DatabaseRestore that changed last which volumes the members use.
func Replacer(s *Situation) string {
	if r := s.Cluster.Status.Replacement; r != nil && len(r.PastRestores) > 0 {
		return "DatabaseRestore " + r.PastRestores[len(r.PastRestores)-1]
	}
	if s.Replacement != nil {
		return "DatabaseRestore " + s.Replacement.Restore.Name
	}
	return "a DatabaseRestore"
}

func usable(b state.Backup) bool { return b.Complete() && !b.Bad() }

// Rescue returns the newest backup with the data of a claim that no longer exists, then the newest one of each previous database on it.
// Without a record of the claim, a backup counts.
func Rescue(observed state.Observed, ordinal int32, uid string) []state.Backup {
	var all []state.Backup
	for {
		next, found := observed.Newest(func(b state.Backup) bool {
			of := dataOf(observed, b, ordinal)
			listed := func(other state.Backup) bool { return !dataOf(observed, other, ordinal).Differs(of) }
			return usable(b) && (of.Volume == types.UID(uid) || of.Volume == "") && !slices.ContainsFunc(all, listed)
		})
		if !found {
			return all
		}
		all = append(all, next)
	}
}

// dataOf is the recorded data of a member. A backup of members of one database has one stream, which counts for each of them.
func dataOf(observed state.Observed, b state.Backup, ordinal int32) state.Data {
	switch {
	case engine.Related(observed.Engine):
		return b.Data[0]
	case ordinal < engine.MaxReplicas:
		return b.Data[ordinal]
	default:
		return state.Data{}
	}
}
