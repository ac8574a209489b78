/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// forgets reports whether the highest member of the list has to leave it.
func forgets(s *situation.Situation) (last int32, is bool) {
	last = s.Voters() - 1
	_, runs := state.First(s.Members, func(m state.Member) bool { return m.Ordinal >= last })
	return last, s.Consents() && s.RecordedVoters() > last && !runs && s.Wanted > 0 && last >= max(s.End(), s.Wanted)
}

// Forget removes members from the membership that the cluster does not need and that have no pod, the highest ordinal first.
// A member that ran has left the list before it stopped, but it may have joined again until its pod was deleted. A member whose claim a
// user deleted never left. The claims record that a member has left only after this removal.
func Forget(s *situation.Situation) phase.Outcome {
	last, is := forgets(s)
	if !is {
		return phase.Over
	}
	if outcome := disturb.Remove(s, last); outcome.Waits() {
		return outcome
	}
	var lowered []operation.Patch
	for _, v := range s.Own {
		if contents := v.Contents; v.Voters > last && !v.Terminating {
			contents.Voters = last
			lowered = append(lowered, Containing(s, v, contents))
		}
	}
	return phase.Do(dbv1.ReasonRemovingMember,
		fmt.Sprintf("recording that pod %s has left the membership", naming.Member(s.Cluster.Name, last)),
		recording(lowered)...)
}
