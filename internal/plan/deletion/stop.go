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
	stops := outcome.Operations.Stops()
	m, found := state.First(s.Members, func(m state.Member) bool { return m.Name == stops })
	if found && records(s) && !m.HasFinalizer && !m.Terminating {
		return phase.Do(outcome.Reason, fmt.Sprintf("adding the finalizer to pod %s, to record the exit code of its database", m.Name),
			operation.Finalizer{
				Work: operation.Work{Is: operation.LastInDeletion, Text: "add the finalizer to pod " + m.Name},
				Pods: []operation.Target{operation.PodOf(m)},
			})
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
