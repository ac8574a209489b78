/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// stop stops the members one by one, see members.Lower. If their exit codes are recorded, it first adds the finalizer to each pod.
func stop(s *situation.Situation) phase.Outcome { return stopFor(s, dbv1.ReasonTerminating) }

func stopFor(s *situation.Situation, reason string) phase.Outcome {
	outcome := lowerAll(s, reason)
	if m, found := stopped(outcome.Operations, s); found && records(s) && !m.HasFinalizer && !m.Terminating {
		return phase.Do(outcome.Reason, fmt.Sprintf("adding the finalizer to pod %s, to record the exit code of its database", m.Name), operation.AddPodFinalizer{Member: m})
	}
	return outcome
}

func lowerAll(s *situation.Situation, reason string) phase.Outcome {
	outcome := members.Lower(s, 0, reason)
	if !outcome.Waits() {
		outcome = members.StopOrphans(s)
	}
	return disturb.AfterHandOvers(s, outcome)
}

// stopped returns the member that one of these operations would stop.
func stopped(all operation.List, s *situation.Situation) (state.Member, bool) {
	scale, scales := operation.Find[operation.Scale](all)
	one, stops := operation.Find[operation.StopMember](all)
	return state.First(s.Members, func(m state.Member) bool {
		return scales && m.Ordinal == scale.Member || stops && m.Name == one.Member.Name
	})
}
