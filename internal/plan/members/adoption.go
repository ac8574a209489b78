/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Adoptions record this cluster on claims of a previous cluster of the same name.
func Adoptions(s *situation.Situation) operation.List {
	return operation.Changes(operation.Work{
		Is: operation.Properties{LiveRead: true}, Text: "adopt ",
		Event: operation.Normal("VolumesAdopted", "Adopt", "adopted from the previous cluster of the same name: "), Listed: ", ",
	}, adoptions(s))
}

// adoptions are the claims of a previous cluster of the same name, which the operator adopts all at once. The restore of a previous
// cluster is irrelevant here.
func adoptions(s *situation.Situation) []operation.Patch {
	if VolumeConflict(s) != nil || s.PreviousUser != "" || slices.ContainsFunc(s.Foreign, holdsVolumes) {
		return nil
	}
	var all []operation.Patch
	for _, v := range s.Left {
		if !v.Terminating && s.Fits(v) {
			all = append(all,
				Containing(s, v, state.Contents{Cluster: s.Cluster.UID, Engine: v.Engine, Primary: v.Primary, Term: v.Term, Voters: v.Voters}))
		}
	}
	return all
}

// Records record the contents of the cluster's own claims whose engine, primary or number of voters has changed.
func Records(s *situation.Situation) operation.List {
	var all []operation.Patch
	for _, v := range s.Volumes {
		holds := v.Contents
		holds.Engine = wroteLast(s, v)
		holds.Voters = voters(s, v)
		if v.Ordinal == 0 && !(s.Switches() && s.Fence() != "") { // no member can write any more: see package replacement
			latest(s, &holds)
		}
		if v.Usable() && !s.Previous(v) && !v.Terminating && holds != v.Contents {
			all = append(all, Containing(s, v, holds))
		}
	}
	return recording(all)
}

// recording records which engine wrote the data of claims, which member has the latest, and how many members the membership
// may have. A paused or deleted cluster has a primary, too. It fails before the operator disturbs a member.
func recording(all []operation.Patch) operation.List {
	return operation.Changes(operation.Work{
		Is: operation.Properties{LiveRead: true, WhilePaused: true, WhileDeleting: true}, Text: "record the contents of ",
	}, all)
}

// latest changes what claim 0 has to record: the pod that has every acknowledged write, and the term of its lock. See state.Latest.
func latest(s *situation.Situation, holds *state.Contents) {
	switch {
	case !s.Related() || holds.Fill == state.Filling:
	case engine.LockOf(s.Engine) != nil:
		locked(s, holds)
	default:
		unlocked(s, holds)
	}
}

// locked records the holder of the lock. After it has given the lock up, the record stays. While members stop, another holder counts only
// if the recorded one still runs: otherwise that one may have stopped with writes that the next holder lacks, and no member is known to
// have everything.
func locked(s *situation.Situation, holds *state.Contents) {
	own := state.Only(s.Agreements, func(a state.Agreement) bool { return a.Cluster == s.Cluster.UID })
	holder, term := state.LockIn(own)
	stops := s.Stopping()
	runs := slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Name == holds.Primary && !m.Terminating })
	switch {
	case holder == "" || stops && term == holds.Term:
	case stops && holds.Term != "" && !runs:
		holds.Primary, holds.Term = "", term
	default:
		holds.Primary, holds.Term = holder, term
	}
}

// unlocked records the member while no other one can accept a write. Before that, the record shows that the list of the voters is known,
// or since when each write needs all that are left. Until one of these stops, a record stays: the member has each further write as well.
func unlocked(s *situation.Situation, holds *state.Contents) {
	pod, settled := s.Settled()
	_, stays := s.Latest()
	stays = stays && (s.AllNeeded() || !s.Unsettles(!s.Deleting() && !s.Cluster.Spec.Paused && mayCreateMembers(s)))
	since := ""
	if s.MayBeStale() {
		since = s.NeededSince()
	}
	switch term := state.ExtentOf(s.StatefulSet).Term(); {
	case settled:
		holds.Primary, holds.Term = pod, term
	case stays:
		holds.Term = term
	case s.Lists() || since != "":
		holds.Primary, holds.Term = "", term
	default:
		holds.Primary, holds.Term = "", ""
	}
	holds.NeededSince = since
}

// voters returns how many members the membership may have, with the one that starts next. Before the first data is complete,
// there is no list. While a removal is being recorded, the claims differ, and the highest number counts.
func voters(s *situation.Situation, v state.Volume) int32 {
	_, lowers := forgets(s)
	switch {
	case !s.Consents() || v.IsFilling() || lowers && v.Voters > 0:
		return v.Voters
	case s.Deleting() || s.Cluster.Spec.Paused || !mayCreateMembers(s):
		return s.Voters()
	default:
		return s.NextVoters()
	}
}

// wroteLast returns the engine that may have written the data of a volume: the engine of the member that started with it.
// spec.engine counts only from then on. A pod of an older operator records no engine and changes nothing.
func wroteLast(s *situation.Situation, v state.Volume) string {
	for _, m := range s.Members {
		if engine := s.EngineOf(m); m.Ordinal == v.Ordinal && m.Started && engine != "" {
			return engine
		}
	}
	return v.Engine
}

// VolumeConflict is the stall of volumes that the previous cluster retained and that cannot be adopted. Members would start with
// the wrong data, or lose it. Volumes that no member would use do not matter.
func VolumeConflict(s *situation.Situation) *situation.Stall {
	if s.Ambiguous(s.Cluster) {
		return kept("PersistentVolumeClaims of several volumeClaimTemplates are retained from the previous cluster of the same name, whose "+
			"data was replaced: %s. Delete the DatabaseRestore that retains the volumes that the previous cluster did not use, or delete the "+
			"claims that you do not need", strings.Join(s.ClaimTemplates, ", "))
	}
	if !s.Inherits() {
		return unadopted(s)
	}
	if bootstrap := s.Cluster.Spec.Bootstrap; bootstrap != nil && bootstrap.FromBackup != nil {
		return kept(
			"%s: retained from the previous cluster of the same name, and spec.bootstrap.fromBackup never overwrites data. Delete these claims if "+
				"you do not need their data, or remove spec.bootstrap to start with these volumes",
			Named(s.Left))
	}
	for _, v := range s.Left {
		switch {
		case v.Terminating:
			return kept(
				"PersistentVolumeClaim %s of the previous cluster of the same name is terminating. Wait until it is deleted; its member then starts "+
					"with an empty volume. Or give the cluster another name",
				v.Claim)
		case v.IsFilling():
			return kept(
				"PersistentVolumeClaim %s of the previous cluster of the same name contains only part of its first data: its restore or its creation "+
					"did not finish. Delete the claim. To restore again, also delete the cluster and re-create it with spec.bootstrap.fromBackup",
				v.Claim)
		case v.Engine != s.Cluster.Spec.Engine:
			return kept(
				"PersistentVolumeClaim %s of the previous cluster of the same name contains data of %s, but spec.engine is %q. Delete the claim, or "+
					"change spec.engine or the cluster's name. If the claim records the wrong engine, correct its annotation %s",
				v.Claim, engineText(v.Engine), s.Cluster.Spec.Engine, dbv1.AnnotationEngine)
		}
	}
	return nil
}

// unadopted is the stall of a new member whose name a volume of the previous cluster has. It may have other data than the cluster.
func unadopted(s *situation.Situation) *situation.Stall {
	v, found := s.Unadopted()
	if !found {
		return nil
	}
	return kept("PersistentVolumeClaim %s of the previous cluster of the same name contains data of %s, and this cluster has not adopted "+
		"it. Delete the claim if you do not need its data, or lower spec.replicas",
		v.Claim, engineText(v.Engine))
}

func kept(format string, arguments ...any) *situation.Stall {
	return &situation.Stall{Reason: dbv1.ReasonVolumeConflict, Message: fmt.Sprintf(format, arguments...)}
}

// Removals returns the deletion of claims that are not terminating yet.
func Removals(volumes []state.Volume, why string) []operation.Removal {
	var all []operation.Removal
	for _, v := range volumes {
		if !v.Terminating {
			all = append(all, operation.Claim(v).Because(why))
		}
	}
	return all
}

// RemoveVolumes deletes claims.
func RemoveVolumes(all []operation.Removal) operation.List {
	return operation.Deletions(operation.Work{
		Is: operation.Cleanup, Text: "delete ", Event: operation.Normal("VolumesDeleted", "Delete", ""), Listed: ", ",
	}, all)
}

// Named lists the claims of volumes for messages.
func Named(volumes []state.Volume) string {
	names := make([]string, 0, len(volumes))
	for _, v := range volumes {
		names = append(names, "PersistentVolumeClaim "+v.Claim)
	}
	return strings.Join(names, ", ")
}

func engineText(name string) string {
	if name == "" {
		return "an unknown engine"
	}
	return fmt.Sprintf("engine %q", name)
}

// holdsVolumes reports whether an object may create pods that use the volumes. A StatefulSet of the cluster's name may, even while
// it has no pods.
func holdsVolumes(r state.Ref) bool { return r.IsOfPreviousCluster() || r.IsStatefulSet() }

// AwaitAdoption waits until the volumes of a previous cluster have been adopted.
func AwaitAdoption(s *situation.Situation) phase.Outcome {
	if !s.Inherits() {
		return awaitAgreements(s)
	}
	stall := VolumeConflict(s)
	switch {
	case stall != nil:
		return phase.Wait(dbv1.ReasonAdoptingVolumes, stall.Message)
	case s.PreviousUser != "":
		return phase.Wait(dbv1.ReasonWaitingForPreviousCluster,
			fmt.Sprintf("%s of the previous cluster of the same name still runs; the operator adopts the volumes when it has terminated",
				s.PreviousUser))
	case s.ForeignStatefulSet():
		return phase.Wait(dbv1.ReasonWaitingForPreviousCluster,
			"a StatefulSet of another owner creates the pods that use the volumes; the operator adopts the volumes when it is deleted")
	default:
		return phase.Wait(dbv1.ReasonAdoptingVolumes, "adopting "+operation.Describe(adoptions(s)))
	}
}
