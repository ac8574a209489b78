/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// missing are the Secrets and ConfigMaps that pods cannot start without and that do not exist.
func missing(observed state.Observed) []state.Reference {
	var all []state.Reference
	for _, r := range observed.References {
		if !r.Found && !r.Optional {
			all = append(all, r)
		}
	}
	return all
}

// holdsBack tells whether the StatefulSet has to stay as it is because a pod made from the spec could not
// start. Members without a StatefulSet get one all the same.
func holdsBack(observed state.Observed) bool {
	return len(missing(observed)) > 0 && (observed.StatefulSet != nil || len(observed.Members) == 0)
}

// held waits for what is missing.
func held(p *Plan, observed state.Observed) bool {
	if !holdsBack(observed) {
		return false
	}
	p.Reason, p.Why = dbv1.ReasonWaitingForReference, describeMissing(missing(observed))
	return true
}

func describeMissing(all []state.Reference) string {
	texts := make([]string, 0, len(all))
	for _, r := range all {
		texts = append(texts, fmt.Sprintf("%s %s, which %s names, does not exist", r.Kind, r.Name, r.Where))
	}
	return strings.Join(texts, "; ")
}

// absentReference is the stall of a spec that names what does not exist.
func absentReference(observed state.Observed) *Stall {
	all := missing(observed)
	if len(all) == 0 {
		return nil
	}
	return &Stall{dbv1.ReasonReferenceMissing, describeMissing(all) + "; no member is started or restarted until it is created"}
}
