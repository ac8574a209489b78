/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Rebuild deletes the volume of the member that the user names, so that it copies the data of the others. The status records which claim,
// before anything is deleted: no other claim is deleted, whatever happens between two passes.
func Rebuild(s *situation.Situation) phase.Outcome {
	request, open := s.Request(dbv1.RequestRebuild)
	if !open || s.StatefulSet == nil {
		return phase.Over
	}
	accepted := situation.Accepted(request)
	if cannotRebuild(s, request) != "" {
		return phase.Over
	}
	ordinal, _ := naming.Ordinal(s.Cluster.Name, podOf(request.Request))
	volume, has := state.First(s.Own, func(v state.Volume) bool { return v.Ordinal == ordinal })
	switch {
	case accepted && has && string(volume.UID) != request.ClaimUID:
		return complete(dbv1.ReasonRebuilding, request, fmt.Sprintf("pod %s has a new PersistentVolumeClaim", podOf(request.Request)))
	case !has, ordinal >= s.Wanted, !accepted && volume.Terminating:
		return phase.Over
	}
	return deleteVolume(s, volume, request)
}

// deleteVolume records the claim, then deletes it and the pod that uses it. Before each step, the other members must do without its data:
// the member may have become the primary since the record.
func deleteVolume(s *situation.Situation, v state.Volume, request dbv1.ClusterRequestStatus) phase.Outcome {
	m, runs := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == v.Ordinal })
	uses := runs && m.Node != "" && !m.Terminating
	text := fmt.Sprintf("PersistentVolumeClaim %s is deleted; its member then copies the data of the others", v.Claim)
	if v.Terminating && !uses {
		return phase.Wait(dbv1.ReasonRebuilding, text)
	}
	if !enough(s, v.Ordinal) {
		return phase.Wait(dbv1.ReasonRebuilding,
			fmt.Sprintf("PersistentVolumeClaim %s is deleted when enough of the other members are ready", v.Claim))
	}
	if outcome := disturb.HandOver(s, m, disturb.Refuges(s)); outcome.Waits() {
		why, began := disturb.Fails(s, naming.HandOverJob(s.Cluster.Name, string(m.UID)), outcome.Message)
		if why != "" && !situation.Accepted(request) {
			return refuse(dbv1.ReasonRebuilding, request, why, began)
		}
		return outcome
	}
	if !situation.Accepted(request) {
		request.ClaimUID = string(v.UID)
		return accept(dbv1.ReasonRebuilding, request, text)
	}
	return phase.Do(dbv1.ReasonRebuilding, text, rebuild(v, m, uses))
}

// rebuild deletes the claim before the pod that uses it, so that the next pod cannot use it.
func rebuild(v state.Volume, m state.Member, uses bool) operation.Delete {
	deletion := operation.Delete{
		Work:    operation.Work{Is: operation.Disturbance, Text: "rebuild " + m.Name},
		Objects: Removals([]state.Volume{v}, ""), Ordered: true,
	}
	if uses {
		deletion.Objects = append(deletion.Objects, operation.Removal{Target: operation.PodOf(m)})
		deletion.Event = operation.Normal("MemberRebuilt", "Rebuild", "")
	}
	return deletion
}

// enough reports whether the other members have the data and can serve without one of them. A member that is down can be rebuilt as
// long as there is a primary, to repair it. One that serves is disturbed within the budget of a rollout.
func enough(s *situation.Situation, ordinal int32) bool {
	serving := state.Only(s.Members, func(m state.Member) bool { return m.Serving(s.At) })
	others := state.Only(serving, func(m state.Member) bool { return m.Ordinal != ordinal })
	all, left := s.Peers(), int32(len(others))
	if len(serving) > len(others) && left < all-int32(budget(s)) {
		return false
	}
	if s.Consents() {
		return left >= situation.Majority(all)
	}
	_, found := s.Primary()
	return found && left > 0
}

// cannotRebuild is why a request cannot be executed; "" for nothing. One that has been accepted is executed, and so is the consent to a
// loss. Without its engine, nothing is known about the data of the members.
func cannotRebuild(s *situation.Situation, request dbv1.ClusterRequestStatus) string {
	ordinal, named := naming.Ordinal(s.Cluster.Name, podOf(request.Request))
	_, lost := s.LossOf(ordinal)
	if situation.Accepted(request) || !s.EngineKnown() || named && lost && !s.Related() {
		return ""
	}
	return unrebuildable(s, request.Request)
}

// unrebuildable is why no member can be rebuilt: the request names no member, or one whose data no other member has, or the API server
// protects its claim; "" for nothing.
func unrebuildable(s *situation.Situation, request string) string {
	ordinal, named := naming.Ordinal(s.Cluster.Name, podOf(request))
	switch replicas := s.Cluster.Spec.Replicas; {
	case !s.Related():
		return "each member has data of its own, which no other member has"
	case !named || ordinal >= replicas:
		return podsOf(s)
	case replicas == 1:
		return "no other member has its data"
	case s.Consents() && replicas == 2:
		return "without it, the other member is no majority. Set spec.replicas to 3 first"
	case s.Cluster.Spec.Deletion.Protection:
		return "spec.deletion.protection is true, so the API server refuses to delete PersistentVolumeClaims. Set it to false first"
	default:
		return ""
	}
}
