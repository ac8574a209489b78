/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Finished returns pods of ended Jobs that use a volume. Kubernetes does not delete a claim while any pod references it, including
// pods of a previous cluster of the same name.
func Finished(s *situation.Situation) []operation.Removal { return Ended(s.Bystanders) }

// Ended are those of these pods that have ended and use a volume.
func Ended(pods []state.Bystander) []operation.Removal {
	var all []operation.Removal
	for _, b := range pods {
		if b.Mounts && b.Component != dbv1.ComponentDatabase && b.Cluster != "" && b.Ended {
			pod := operation.Target{Kind: operation.Core("Pod"), Name: b.Name, UID: b.UID, Version: b.Version}
			all = append(all, operation.Removal{Target: pod, Why: "it blocks the deletion of a volume", Log: naming.ActionContainer})
		}
	}
	return all
}

// Obstructing returns the pods of ended Jobs that use a volume, while a member waits until the claim of its previous volume is deleted. The
// Job that created the first data has such a pod.
func Obstructing(s *situation.Situation) []operation.Removal {
	waits := slices.ContainsFunc(s.Own, func(v state.Volume) bool { return v.Terminating && v.Ordinal < s.Wanted })
	if !waits || s.NotStarted() {
		return nil
	}
	return Finished(s)
}
