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

// Labels are the claims that are not protected as the spec says: those of members that are no more, too,
// because their data is kept as well. One that is on its way out is beyond protection, and one that a previous cluster
// left is first to be this one's. While a backup is restored there is nothing yet that it does not hold, too.
func Labels(s *situation.Situation) []operation.Protection {
	var all []operation.Protection
	protect := s.Cluster.Spec.Deletion.Protection && s.Restoration == nil
	for _, v := range s.Volumes {
		if v.Protected != protect && !v.Terminating && !s.Previous(v) {
			all = append(all, operation.Protection{Volume: v, Protect: protect})
		}
	}
	return all
}

// Labeling says what is done to the claims, which waits for nothing. A deletion waits for it: claims that the
// operator is to delete would be refused, and those that it keeps would be protected for ever.
func Labeling(s *situation.Situation) phase.Outcome {
	label, found := operation.Find[operation.LabelVolumes](s.Upkeep)
	if !found {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonApplying, operation.Describe(label.Claims))
}
