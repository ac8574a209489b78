/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// dataIn identifies the data in a complete backup: of members with data of their own, the UID of the claim of each. A backup without
// these records has the data of a claim that is older than the backup, or of an unknown one that has been replaced since. Members of
// one database have the same data on each volume, so it is always the same.
func dataIn(observed state.Observed, b state.Backup) []string {
	if engine.Related(observed.Engine) {
		return nil
	}
	all := make([]string, 0, b.Members)
	for ordinal := range b.Members {
		id := string(b.Volumes[ordinal])
		if id == "" {
			id = unrecorded(observed, b, ordinal)
		}
		all = append(all, id)
	}
	return all
}

func unrecorded(observed state.Observed, b state.Backup, ordinal int32) string {
	v, exists := state.First(observed.Volumes, func(v state.Volume) bool { return v.Ordinal == ordinal })
	if !exists || v.Created.After(b.Created.Time) {
		return fmt.Sprintf("replaced volume of member %d", ordinal)
	}
	return string(v.UID)
}

// replaces reports whether a newer backup has the data of the same volumes as an older one, so that it counts instead of it.
func replaces(observed state.Observed, newer, older state.Backup) bool {
	has := dataIn(observed, newer)
	return !slices.ContainsFunc(dataIn(observed, older), func(id string) bool { return !slices.Contains(has, id) })
}

// Rescue returns the newest backup with the data of a claim that no longer exists. Without a record, the newest one counts.
func Rescue(observed state.Observed, ordinal int32, uid string) (state.Backup, bool) {
	usable := func(b state.Backup) bool { return b.Complete() && !b.Bad() }
	has := func(b state.Backup) bool {
		recorded := ""
		if ordinal < engine.MaxReplicas {
			recorded = string(b.Volumes[ordinal])
		}
		return usable(b) && (recorded == uid || recorded == "")
	}
	return observed.Newest(has)
}
