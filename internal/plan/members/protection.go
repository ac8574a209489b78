/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Labels add or remove the label that makes the API server refuse to delete claims.
func Labels(s *situation.Situation) operation.List {
	return operation.Changes(operation.Work{Is: operation.Properties{LiveRead: true, Independent: true, WhileDeleting: true}}, labels(s))
}

// labels are the claims whose protection differs from the spec, including retained claims of removed members. Terminating claims
// are too late to protect. Claims of a previous cluster are adopted first. During a restore, the backup still contains all data.
func labels(s *situation.Situation) []operation.Patch {
	var all []operation.Patch
	protect := s.Cluster.Spec.Deletion.Protection && s.Restoration == nil
	for _, v := range s.Volumes {
		if v.Protected != protect && !v.Terminating && !s.Previous(v) {
			all = append(all, protecting(s, v, protect))
		}
	}
	return all
}

// Labeling reports changes of labels, for which no other phase waits. A deletion waits for them: the API server would refuse to
// delete protected claims, and retained claims would stay protected forever.
func Labeling(s *situation.Situation) phase.Outcome {
	all := labels(s)
	if len(all) == 0 {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonApplying, operation.Describe(all))
}
