/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Extent returns the lowest ordinal and the number of the members that the StatefulSet should have now. Members start all at once but
// stop one by one. A member that is not in the membership starts after claim 0 records it.
func (s *Situation) Extent() (start, replicas int32) {
	live, first := s.live(), s.first()
	if first > 0 {
		return s.fromFirst(first, live)
	}
	return 0, max(live, s.unrecorded(s.recorded(s.target(live)), live))
}

// target is how many members should run next.
func (s *Situation) target(live int32) int32 { return s.unblocked(s.mayStart(live), live) }

// fromFirst is the extent of a cluster whose first member is not member 0. Those that run stay until all members up to them can start.
func (s *Situation) fromFirst(first, live int32) (start, replicas int32) {
	end := first + max(live, 1)
	if s.Wanted > 0 && !s.firstAlone(live) {
		if all := s.unblocked(max(s.Wanted, end), 0); all >= end {
			return 0, all
		}
	}
	return first, max(live, min(s.Wanted, 1))
}

// unblocked returns how many of the wanted members can start, if those from an ordinal do not run yet.
func (s *Situation) unblocked(wanted, from int32) int32 {
	for _, v := range s.Volumes {
		if v.Ordinal >= from && s.blocks(v) && !s.Has(v.Ordinal) {
			wanted = min(wanted, v.Ordinal)
		}
	}
	return s.withoutLost(wanted, from)
}

// blocks reports whether no member may start with a volume, because it is terminating, contains only part of a backup, or belongs to a
// previous cluster.
func (s *Situation) blocks(v state.Volume) bool {
	return v.Terminating || v.IsFilling() || s.Previous(v) && !s.Ephemeral()
}

// Complete reports whether the StatefulSet may have all its members.
func (s *Situation) Complete() bool {
	start, replicas := s.Extent()
	return start == 0 && replicas == s.Wanted
}

// from returns the lowest ordinal of the members that run. A new StatefulSet starts none of those below that have stopped already, because
// all stop.
func (s *Situation) from() int32 {
	running, exists := state.First(s.Members, func(m state.Member) bool { return !m.Terminating })
	if s.StatefulSet != nil || s.Wanted > 0 || !exists || !s.HasRoles() || s.strays() > 0 {
		return s.Start()
	}
	return running.Ordinal
}

// live returns the replicas of the StatefulSet, or how many a new one needs to adopt all running members.
func (s *Situation) live() int32 {
	if live, known := s.Replicas(); known {
		return live
	}
	return max(s.Running()-s.from(), s.strays())
}

// strays is how many members a StatefulSet needs to adopt those of a previous cluster that have no controller.
func (s *Situation) strays() (live int32) {
	for _, b := range s.Bystanders {
		if ordinal, named := naming.Ordinal(s.Cluster.Name, b.Name); named && b.Orphan && b.Component == dbv1.ComponentDatabase {
			live = max(live, ordinal+1)
		}
	}
	return live
}
