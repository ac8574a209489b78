/*
SPDX-License-Identifier: Apache-2.0
*/

package disturb

import (
	"fmt"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// podOf returns the UID of a member's pod; "" for none. A removal counts only for that pod: one that is created later may join after
// the removal.
func podOf(s *situation.Situation, ordinal int32) string {
	m, _ := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	return string(m.UID)
}

// joinTimeout is how long a removal waits for a member that starts.
const joinTimeout = 5 * time.Minute

// joinsIn is how long a member that starts may still take to join the others; 0 if it has joined, cannot start, or had enough time. It
// must join before its removal: otherwise the removal finds no member, and the member joins after it.
func joinsIn(s *situation.Situation, ordinal int32) time.Duration {
	m, runs := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	if !runs || m.Ready || m.Terminating || m.Problem != "" {
		return 0
	}
	return max(0, joinTimeout-s.At.Sub(m.Created.Time))
}

// Remove removes the member with an ordinal, which may be down, from the list that the others keep. It waits while the others have
// no majority without that member: they could not decide, and later could not serve.
func Remove(s *situation.Situation, ordinal int32) phase.Outcome {
	if !s.Consents() {
		return phase.Over
	}
	others := state.Only(s.Members, func(m state.Member) bool { return m.Ordinal != ordinal && m.Serving(s.At) })
	name := fmt.Sprintf("%s-%d", s.Cluster.Name, ordinal)
	if needed := situation.Majority(s.Voters() - 1); int32(len(others)) < needed {
		return phase.Wait(dbv1.ReasonRemovingMember, fmt.Sprintf(
			"pod %s cannot be removed: %d of the other members are ready, but %d are needed for a majority", name, len(others), needed))
	}
	job := resources.MemberRemoveJob(s.Cluster, s.Engine, ordinal, string(s.StatefulSet.UID), fmt.Sprint(s.StatefulSet.Generation),
		podOf(s, ordinal))
	if _, exists := s.JobOf(job.Name()); !exists && joinsIn(s, ordinal) > 0 {
		outcome := phase.Wait(dbv1.ReasonRemovingMember, fmt.Sprintf("pod %s is removed after it has joined the others", name))
		outcome.RequeueAfter = joinsIn(s, ordinal)
		return outcome
	}
	outcome, _ := Run(s, job, dbv1.ReasonRemovingMember, fmt.Sprintf("the other members remove pod %s from their list", name))
	return outcome
}
