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
// the data of the others, so there is a loss only if too few recorded claims are left.

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
	left := int32(0)
	for _, r := range s.Cluster.Status.Volumes {
		ordinal, named := naming.ClaimOrdinal(s.Cluster, r.Claim)
		switch {
		case !named, s.removed(ordinal):
		case s.gone(ordinal, r.UID):
			all = append(all, Loss{r, ordinal})
		default:
			left++
		}
	}
	if s.Related() && left >= s.enough(left+int32(len(all))) {
		return nil
	}
	return all
}

// mayLose reports whether a loss can be known, and matters: ready members of one database have its data.
func (s *Situation) mayLose() bool {
	return !s.Deleting() && !s.Ephemeral() && s.EngineKnown() && s.Restoration == nil && !(s.Related() && s.Ready() > 0)
}

// enough is how many of the volumes of one database its members need to continue.
func (s *Situation) enough(recorded int32) int32 {
	if s.Consents() {
		return Majority(recorded)
	}
	return 1
}

// removed reports whether the member of an ordinal was removed while others continued, so its data is older. While no member of one
// database runs, each of them may have the latest data, also if there will be fewer.
func (s *Situation) removed(ordinal int32) bool {
	return ordinal >= s.Cluster.Spec.Replicas && !s.Has(ordinal) && !(s.Related() && s.live() == 0)
}

// gone reports whether a recorded claim no longer exists. The cache may not have the claim of a pod yet. A claim that a user has created
// is not empty: it has no labels of the StatefulSet, or names the source of its data.
func (s *Situation) gone(ordinal int32, uid string) bool {
	v, exists := s.volume(ordinal)
	if !exists {
		_, runs := s.member(ordinal)
		return !runs
	}
	return string(v.UID) != uid && !v.Unwatched && !v.Copied
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

// Holds reports whether a member must not run, because its volume has replaced one with data. While the claim is being deleted, no pod can
// start with it. A member that is removed needs no hold.
func (s *Situation) Holds(m state.Member) bool {
	if _, lost := s.LossOf(m.Ordinal); !lost || s.Related() || !s.Has(m.Ordinal) {
		return false
	}
	v, exists := s.volume(m.Ordinal)
	return exists && !v.Terminating && (m.Placed.IsZero() || m.Mounts(v.Created))
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

// VolumeRecords are the claims with data after this pass, also those of the volumes that the members do not use.
func (s *Situation) VolumeRecords(requests []dbv1.ClusterRequestStatus) []dbv1.VolumeRecord {
	if s.Deleting() || !s.EngineKnown() {
		return s.Cluster.Status.Volumes
	}
	all := s.volumeRecords(requests)
	if s.Next != nil {
		all = append(all, s.Next.volumeRecords(nil)...)
	}
	slices.SortFunc(all, func(a, b dbv1.VolumeRecord) int { return cmp.Compare(a.Claim, b.Claim) })
	return all
}

// volumeRecords are those of the volumes that members use. A completed rebuild removes the record of its claim: until the member is ready,
// there is no data. A restore has not created any yet. A cluster of an older operator has no records, so its first pass records what runs.
func (s *Situation) volumeRecords(requests []dbv1.ClusterRequestStatus) []dbv1.VolumeRecord {
	if s.Ephemeral() || s.Restoration != nil {
		return nil
	}
	var all []dbv1.VolumeRecord
	for _, r := range s.recordsInUse() {
		if !forgone(requests, r) && !s.forgotten(r) {
			all = append(all, s.nextRecord(r))
		}
	}
	for _, v := range s.Volumes {
		recorded := slices.ContainsFunc(all, func(r dbv1.VolumeRecord) bool { return r.Claim == v.Claim })
		if !recorded && s.isNew(v) {
			all = append(all, s.withLabels(dbv1.VolumeRecord{Claim: v.Claim, UID: string(v.UID)}, v))
		}
	}
	return all
}

// recordsInUse are the records of the volumes that members use.
func (s *Situation) recordsInUse() []dbv1.VolumeRecord {
	return state.Only(s.Cluster.Status.Volumes, func(r dbv1.VolumeRecord) bool {
		_, used := naming.ClaimOrdinal(s.Cluster, r.Claim)
		return used
	})
}

// forgone reports whether the user has requested to continue without a claim.
func forgone(requests []dbv1.ClusterRequestStatus, record dbv1.VolumeRecord) bool {
	return slices.ContainsFunc(requests, func(r dbv1.ClusterRequestStatus) bool {
		return r.Type == dbv1.RequestRebuild && r.State == dbv1.RequestCompleted && r.ClaimUID == record.UID
	})
}

// forgotten reports whether a record is of a removed member whose data no member needs: the claim is deleted or being deleted, or the other
// members have later data.
func (s *Situation) forgotten(r dbv1.VolumeRecord) bool {
	ordinal, named := naming.ClaimOrdinal(s.Cluster, r.Claim)
	v, exists := s.volume(ordinal)
	return !named || s.removed(ordinal) && (s.Related() || !exists || v.Terminating)
}

// nextRecord is a record with the claim that has the data now. A member that only stops shows nothing about a volume that has replaced
// another one.
func (s *Situation) nextRecord(r dbv1.VolumeRecord) dbv1.VolumeRecord {
	ordinal, _ := naming.ClaimOrdinal(s.Cluster, r.Claim)
	_, lost := s.LossOf(ordinal)
	v, exists := s.volume(ordinal)
	if !lost && exists && s.shows(v) && r.UID != string(v.UID) {
		r.UID, r.Labels = string(v.UID), ""
	}
	if exists && r.UID == string(v.UID) {
		r = s.withLabels(r, v)
	}
	return r
}

// withLabels records that a claim has the labels of the cluster.
func (s *Situation) withLabels(r dbv1.VolumeRecord, v state.Volume) dbv1.VolumeRecord {
	if s.labeled(v) {
		r.Labels = dbv1.VolumeLabelsRestored
	}
	return r
}

// isNew reports whether a volume without a record has data. That of a member of one database that was removed has older data, so once there
// are records, only a ready member of the StatefulSet adds one.
func (s *Situation) isNew(v state.Volume) bool {
	if s.Related() && len(s.recordsInUse()) > 0 {
		return s.shows(v) && s.Has(v.Ordinal)
	}
	return s.hasData(v)
}

// hasData reports whether a volume has data: that is seen, or a previous member left it.
func (s *Situation) hasData(v state.Volume) bool {
	_, runs := s.member(v.Ordinal)
	return s.shows(v) || s.counts(v) && !runs && !s.Has(v.Ordinal)
}

// shows reports whether a volume is known to have data: its member has been ready with it, or a backup or a user has filled it.
func (s *Situation) shows(v state.Volume) bool {
	m, runs := s.member(v.Ordinal)
	ready := runs && m.Ready && !m.Terminating && m.Mounts(v.Created)
	return s.counts(v) && (ready || v.Fill == state.Filled || v.Unwatched || v.Copied)
}

// counts reports whether a volume is one of the cluster, and complete.
func (s *Situation) counts(v state.Volume) bool {
	ours := v.Cluster == s.Cluster.UID || v.Unwatched
	return ours && !v.Terminating && !v.IsFilling() && !v.Capacity.IsZero()
}
