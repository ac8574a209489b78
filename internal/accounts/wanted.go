/*
SPDX-License-Identifier: Apache-2.0
*/

package accounts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const (
	// maxObjects is the maximum number of objects of a Job, and maxBytes that of its Secret, of which Kubernetes stores at most 1 MiB.
	maxObjects, maxBytes = 1000, 900 << 10
	// MinPassword is the minimum size of a password in bytes. Passwords are removed from the messages of an action: a letter as a password
	// would make all of them unreadable.
	MinPassword = 8
	// MaxPassword is the maximum size of a password in bytes.
	MaxPassword = 256
)

// wanted are the objects that the action gets, in the order of its document, and why it does not get all of them.
func wanted(s *situation.Situation, found Facts) (all []Declared, left string) {
	if s.Engine == nil || s.Engine.Spec.Actions.Objects == nil {
		return nil, ""
	}
	all = state.Only(found.Declared, func(d Declared) bool {
		supported := d.Kind == KindUser || engine.HasDatabases(s.Engine)
		return supported && !uncertified(d, s.Cluster, s.Engine) && d.Prepared() && d.Older(found.Declared) == nil
	})
	slices.SortFunc(all, func(a, b Declared) int { return cmp.Or(cmp.Compare(turn(a), turn(b)), compare(a, b)) })
	if fit := fitting(all); fit < len(all) {
		left = fmt.Sprintf("the cluster has %d databases and users, and a Job can get the oldest %d of them. Delete some", len(all), fit)
		all = all[:fit]
	}
	slices.SortStableFunc(all, func(a, b Declared) int { return cmp.Compare(a.Kind, b.Kind) })
	return all, left
}

// fitting is the number of objects that fit into a Job.
func fitting(all []Declared) int {
	size := 0
	for i, d := range all {
		text, err := json.Marshal(Document([]Declared{d}))
		if size += len(text) + MaxPassword; err != nil || size > maxBytes || i == maxObjects {
			return i
		}
	}
	return len(all)
}

// turn puts deletions first.
func turn(d Declared) int {
	if d.Deleting() {
		return 0
	}
	return 1
}
