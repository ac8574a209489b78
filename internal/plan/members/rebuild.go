/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Rebuild deletes the volume of the member that the user names, so that it copies the data of the others. The StatefulSet records which
// claim, before anything is deleted: no other claim is deleted, whatever happens between two passes.
func Rebuild(s *situation.Situation) phase.Outcome {
	request := s.Cluster.Annotations[dbv1.AnnotationRebuild]
	if forgotten(s, dbv1.AnnotationRebuild, dbv1.AnnotationRebuilt) {
		return forget(dbv1.ReasonRebuilding, dbv1.AnnotationRebuilt)
	}
	ordinal, ok := naming.Ordinal(s.Cluster.Name, podOf(request))
	if !ok || ordinal >= s.Wanted || s.StatefulSet == nil || RebuildRefused(s) != nil {
		return phase.Over
	}
	volume, has := state.First(s.Own, func(v state.Volume) bool { return v.Ordinal == ordinal })
	record, chosen := request+"/"+string(volume.UID), rebuilt(s, request)
	if !has || chosen != "" && chosen != record || chosen == "" && volume.Terminating {
		return phase.Over
	}
	return deleteVolume(s, volume, record, chosen != "")
}

// rebuilt is the record of the request: the request, a slash and the UID of the claim; "" if none was recorded.
func rebuilt(s *situation.Situation, request string) string {
	if s.StatefulSet == nil {
		return ""
	}
	record := s.StatefulSet.Annotations[dbv1.AnnotationRebuilt]
	if end := strings.LastIndex(record, "/"); end < 0 || record[:end] != request {
		return ""
	}
	return record
}

// deleteVolume records the claim, then deletes it and the pod that uses it. Before each step, the other members must do without its data:
// the member may have become the primary since the record.
func deleteVolume(s *situation.Situation, v state.Volume, record string, recorded bool) phase.Outcome {
	m, runs := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == v.Ordinal })
	uses := runs && m.Node != "" && !m.Terminating
	text := fmt.Sprintf("PersistentVolumeClaim %s is deleted; its member then copies the data of the others", v.Claim)
	if v.Terminating && !uses {
		return phase.Wait(dbv1.ReasonRebuilding, text)
	}
	if !enough(s, v.Ordinal) {
		return phase.Wait(dbv1.ReasonRebuilding, fmt.Sprintf("PersistentVolumeClaim %s is deleted when enough of the other members are ready", v.Claim))
	}
	if outcome := disturb.HandOver(s, m, nil); outcome.Waits() {
		return outcome
	}
	if !recorded {
		return phase.Do(dbv1.ReasonRebuilding, text, operation.Record{Key: dbv1.AnnotationRebuilt, Value: record})
	}
	return phase.Do(dbv1.ReasonRebuilding, text, operation.RebuildMember{Member: m, Volume: v, Pod: uses})
}

// enough reports whether the other members have the data and can serve without one of them. A member that is down can be rebuilt as
// long as there is a primary, to repair it. One that serves is not disturbed while too many others are down, as in a rollout.
func enough(s *situation.Situation, ordinal int32) bool {
	serving := state.Only(s.Members, func(m state.Member) bool { return m.Serving(s.At) })
	others := state.Only(serving, func(m state.Member) bool { return m.Ordinal != ordinal })
	all, left := s.Peers(), int32(len(others))
	if s.Consents() {
		return left >= situation.Majority(all)
	}
	_, found := s.Primary()
	return found && left > 0 && (len(serving) == len(others) || left >= all-max(1, (all-1)/2))
}

// RebuildRefused is the stall of a request that names no member, or one whose data no other member has.
func RebuildRefused(s *situation.Situation) *situation.Stall {
	request := s.Cluster.Annotations[dbv1.AnnotationRebuild]
	if request == "" || rebuilt(s, request) != "" { // a request that was executed does not matter any more, also after scaling in
		return nil
	}
	ordinal, named := naming.Ordinal(s.Cluster.Name, podOf(request))
	text := ""
	switch replicas := s.Cluster.Spec.Replicas; {
	case !s.Related():
		text = "each member has data of its own, which no other member has"
	case !named || ordinal >= replicas:
		text = fmt.Sprintf("the cluster has the pods %s to %s", naming.Member(s.Cluster.Name, 0), naming.Member(s.Cluster.Name, replicas-1))
	case replicas == 1:
		text = "no other member has its data"
	default:
		return nil
	}
	return &situation.Stall{Reason: dbv1.ReasonRebuildRefused, Message: fmt.Sprintf(
		"the annotation %s names %q, but %s. Correct or remove the annotation", dbv1.AnnotationRebuild, request, text)}
}
