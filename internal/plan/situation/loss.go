/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"cmp"
	"slices"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// The StatefulSet controller replaces a deleted claim by an empty one at once. So the status records the claim of each member that
// has data, by its UID. A member with data of its own never starts with another claim without consent. Members of one database copy
// the data of the others, so there is a loss only if no recorded claim is left.

// Loss is a recorded claim that no longer exists, and whose data no other member has.
type Loss struct {
	dbv1.VolumeRecord
	Ordinal int32
}

// losses are the lost volumes of the members that the cluster should have. Without the engine it is unknown whether others have the data.
func (s *Situation) losses() []Loss {
	if !s.mayLose() {
		return nil
	}
	var all []Loss
	for _, r := range s.Cluster.Status.Volumes {
		ordinal, named := naming.ClaimOrdinal(s.Cluster.Name, r.Claim)
		gone := named && s.gone(ordinal, r.UID)
		switch {
		case named && !gone && s.Related():
			return nil
		case gone && s.matters(ordinal):
			all = append(all, Loss{r, ordinal})
		}
	}
	return all
}

// mayLose reports whether a loss can be known, and matters: ready members of one database have its data.
func (s *Situation) mayLose() bool {
	return !s.Deleting() && !s.Ephemeral() && s.EngineKnown() && !(s.Related() && s.Ready() > 0)
}

// matters reports whether the loss of a member's claim matters: of members of one database, any may have had the data.
func (s *Situation) matters(ordinal int32) bool {
	return s.Related() || ordinal < s.Cluster.Spec.Replicas || s.Has(ordinal)
}

// gone reports whether a recorded claim no longer exists. The cache may not have the claim of a pod yet. A claim without the labels
// of the StatefulSet is not empty: a user has created it.
func (s *Situation) gone(ordinal int32, uid string) bool {
	v, exists := s.volume(ordinal)
	if !exists {
		_, runs := s.member(ordinal)
		return !runs
	}
	return string(v.UID) != uid && !v.Unwatched
}

func (s *Situation) volume(ordinal int32) (state.Volume, bool) {
	return state.First(s.Volumes, func(v state.Volume) bool { return v.Ordinal == ordinal })
}

func (s *Situation) member(ordinal int32) (state.Member, bool) {
	return state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
}

// LossOf returns the loss of a member.
func (s *Situation) LossOf(ordinal int32) (Loss, bool) {
	return state.First(s.Lost, func(l Loss) bool { return l.Ordinal == ordinal })
}

// Holds reports whether a member must not run, because its volume has replaced one with data. A pod that is older than the claim
// still has the previous volume. While the claim is being deleted, no pod can start with it.
func (s *Situation) Holds(m state.Member) bool {
	if _, lost := s.LossOf(m.Ordinal); !lost || s.Related() {
		return false
	}
	v, exists := s.volume(m.Ordinal)
	return exists && !v.Terminating && !v.Created.After(m.Created.Time)
}

// Replaceable reports whether Kubernetes is about to replace a lost volume by an empty one, and to start its member.
func (s *Situation) Replaceable(l Loss) bool {
	_, runs := s.member(l.Ordinal)
	return !s.Related() && s.Has(l.Ordinal) && !runs
}

// withoutLost lowers a number of members, so that none starts without its data.
func (s *Situation) withoutLost(wanted, from int32) int32 {
	for _, l := range s.Lost {
		if !s.Related() && l.Ordinal >= from && !s.Has(l.Ordinal) {
			wanted = min(wanted, l.Ordinal)
		}
	}
	return wanted
}

// VolumeRecords are the claims with data after this pass. A completed rebuild removes the record of its claim: until the member is ready,
// there is no data.
func (s *Situation) VolumeRecords(requests []dbv1.RequestStatus) []dbv1.VolumeRecord {
	if s.Deleting() || !s.EngineKnown() {
		return s.Cluster.Status.Volumes
	}
	if s.Ephemeral() {
		return nil
	}
	var all []dbv1.VolumeRecord
	for _, r := range s.Cluster.Status.Volumes {
		if !forgone(requests, r) && !s.removed(r) {
			all = append(all, s.nextRecord(r))
		}
	}
	for _, v := range s.Volumes {
		recorded := slices.ContainsFunc(all, func(r dbv1.VolumeRecord) bool { return r.Claim == v.Claim })
		if !recorded && s.hasData(v) {
			all = append(all, dbv1.VolumeRecord{Claim: v.Claim, UID: string(v.UID)})
		}
	}
	slices.SortFunc(all, func(a, b dbv1.VolumeRecord) int { return cmp.Compare(a.Claim, b.Claim) })
	return all
}

// forgone reports whether the user has requested to continue without a claim.
func forgone(requests []dbv1.RequestStatus, record dbv1.VolumeRecord) bool {
	return slices.ContainsFunc(requests, func(r dbv1.RequestStatus) bool {
		return r.Type == dbv1.RequestRebuild && r.State == dbv1.RequestCompleted && r.ClaimUID == record.UID
	})
}

// removed reports whether a record is of a removed member whose claim is deleted, or is being deleted.
func (s *Situation) removed(r dbv1.VolumeRecord) bool {
	ordinal, named := naming.ClaimOrdinal(s.Cluster.Name, r.Claim)
	v, exists := s.volume(ordinal)
	return !named || (!exists || v.Terminating) && ordinal >= s.Cluster.Spec.Replicas && !s.Has(ordinal)
}

// nextRecord is a record with the claim that has the data now.
func (s *Situation) nextRecord(r dbv1.VolumeRecord) dbv1.VolumeRecord {
	ordinal, _ := naming.ClaimOrdinal(s.Cluster.Name, r.Claim)
	_, lost := s.LossOf(ordinal)
	if v, exists := s.volume(ordinal); !lost && exists && s.hasData(v) {
		r.UID = string(v.UID)
	}
	return r
}

// hasData reports whether a volume has data: its member has been ready with it, a backup was restored into it, or a previous member left it.
func (s *Situation) hasData(v state.Volume) bool {
	ours := v.Cluster == s.Cluster.UID || v.Unwatched
	if !ours || v.Terminating || v.IsFilling() || v.Capacity.IsZero() {
		return false
	}
	m, runs := s.member(v.Ordinal)
	switch {
	case v.Fill == state.Filled:
		return true
	case runs:
		return m.Ready && !m.Terminating && !v.Created.After(m.Created.Time)
	default:
		return !s.Has(v.Ordinal)
	}
}
