/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"fmt"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// next is the cluster with the other volumes of its replacement, before it has members. So they are filled like those of a new cluster.
func (s *Situation) next() *Situation {
	r := s.Replacement
	if r == nil {
		return nil
	}
	observed := s.Observed
	observed.StatefulSet, observed.Members, observed.Replacement = nil, nil, nil
	observed.Volumes, observed.Restore, observed.Foreign = r.Volumes, r.Filling, slices.Concat(s.Foreign, r.Conflicts)
	return Of(r.Cluster(s.Declared), observed)
}

// Switches reports whether the members stop, to start with the other volumes. Before these have complete data, nothing disturbs a member,
// and nothing does after their restore has failed.
func (s *Situation) Switches() bool {
	return s.Next != nil && s.Replacement.Asked && s.Replacement.Failure == "" && s.Next.complete()
}

// complete reports whether the members would start with all data, and nothing else keeps them from starting.
func (s *Situation) complete() bool {
	stays := func(v state.Volume) bool { return !v.IsFilling() && !v.Terminating }
	return s.Restoration == nil && len(s.Lost) == 0 && slices.ContainsFunc(s.Own, stays) && s.Obstacle() == ""
}

// Obstacle is why members cannot start with these volumes, whatever their data; "" for nothing.
func (s *Situation) Obstacle() string {
	other, found := state.First(s.Own, func(v state.Volume) bool { return !s.Fits(v) && !v.IsFilling() })
	switch {
	case !s.EngineKnown():
		return "the engine of the cluster is unknown"
	case s.Unusable != nil:
		return s.Unusable.Message
	case s.TemplateBlocked():
		return "the objects that the members need are not complete"
	case s.ForeignServiceAccount(), s.ForeignService():
		return "a ServiceAccount or a Service of a name that the members need has another owner"
	case found:
		return fmt.Sprintf("PersistentVolumeClaim %s has data of engine %q, and spec.engine is %q", other.Claim, other.Engine,
			s.Cluster.Spec.Engine)
	default:
		return ""
	}
}

// Detached reports whether the members have stopped, and the StatefulSet with the volumes from before is deleted.
func (s *Situation) Detached() bool {
	return s.Switches() && s.NotStarted() && s.Fence() != ""
}

// Switched reports whether nothing of the members depends on the volumes from before any more. The status records that, and then the
// members start with the others. A pod of the archive would store the log of the others as that of these.
func (s *Situation) Switched() bool {
	ours := func(a state.Agreement) bool { return a.Cluster == s.Cluster.UID }
	_, archives := s.Archives()
	return s.Detached() && !archives && !slices.ContainsFunc(s.Agreements, ours)
}

// Archives is the pod that archives the log of the members; found is false if there is none.
func (s *Situation) Archives() (pod string, found bool) {
	b, found := state.First(s.Bystanders, func(b state.Bystander) bool { return b.Component == dbv1.ComponentArchive && !b.Ended })
	return b.Name, found
}
