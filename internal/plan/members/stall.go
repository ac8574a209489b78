/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// NameConflict is the stall of objects of other owners that have a name that the cluster needs.
func NameConflict(s *situation.Situation) *situation.Stall {
	var names, remedies, instead []string
	for _, ref := range s.Foreign {
		if ref.IsOfPreviousCluster() {
			continue
		}
		names = append(names, ref.Kind+" "+ref.Name)
		if ref.Remedy != "" {
			remedies = append(remedies, ", "+ref.Remedy)
			instead = append(instead, fmt.Sprintf(" (instead of %s %s: %s)", ref.Kind, ref.Name, ref.Remedy))
		}
	}
	if len(names) == 0 {
		return nil
	}
	belongs, it := "already exists and does not belong to this cluster", "it"
	if len(names) > 1 {
		belongs, it, remedies = "already exist and do not belong to this cluster", "them", instead
	}
	return &situation.Stall{Reason: dbv1.ReasonNameConflict, Message: fmt.Sprintf(
		"%s %s, so the operator does not change %s. Delete %[3]s%s, or give the cluster another name",
		strings.Join(names, ", "), belongs, it, strings.Join(remedies, ""))}
}

// Unusable is the stall of a spec from which no pod can be created.
func Unusable(s *situation.Situation) *situation.Stall {
	if s.Unusable == nil {
		return nil
	}
	until := "Until you correct this"
	if s.Unusable.Reason == dbv1.ReasonReferenceMissing {
		until = "Create what is missing in the namespace of the cluster. Until then"
	}
	undone := "the operator does not start or restart members"
	if s.KeepsMembers() {
		undone = "the operator does not start, restart or remove members"
	}
	return &situation.Stall{Reason: s.Unusable.Reason, Message: fmt.Sprintf("%s. %s, %s", s.Unusable.Message, until, undone)}
}

// PreviousCluster waits until Kubernetes has deleted the objects of a previous cluster of the same name.
func PreviousCluster(s *situation.Situation) phase.Outcome {
	i := slices.IndexFunc(s.Foreign, state.Ref.IsOfPreviousCluster)
	if i < 0 {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonWaitingForPreviousCluster,
		fmt.Sprintf("waiting until Kubernetes has deleted %s %s of the previous cluster of the same name", s.Foreign[i].Kind, s.Foreign[i].Name))
}
