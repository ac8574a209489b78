/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// ScaleIn removes members one by one, the highest ordinal first. If no member may be removed now, the later phases may correct the cause.
func ScaleIn(s *situation.Situation) phase.Outcome {
	if s.KeepsMembers() || unremovable(s) != "" {
		return phase.Over // Blocked and AwaitScaleIn report the cause
	}
	if outcome := Forget(s); outcome.Waits() {
		return outcome
	}
	reason := dbv1.ReasonScaling
	switch {
	case s.Switches():
		reason = dbv1.ReasonReplacingData
	case s.Cluster.Spec.Hibernated:
		reason = dbv1.ReasonHibernating
	}
	return Lower(s, s.Wanted, reason)
}

// AwaitScaleIn waits until a member may be removed, while no other phase has anything to do.
func AwaitScaleIn(s *situation.Situation) phase.Outcome {
	cause := unremovable(s)
	if cause == "" || s.KeepsMembers() {
		return phase.Over
	}
	return phase.Wait(dbv1.ReasonScaling, fmt.Sprintf("scaling in from %d to %d members waits until %s", s.End(), s.Wanted, cause))
}

// unremovable is what has to happen before the next member is removed; "" for nothing. The configuration for fewer members comes first,
// because the engine may refuse it. A primary is never removed, and no member while there is none: it may be the only one that can become
// the primary. A member that serves stays while too many of the others are down. A hibernation removes no member: see awaitPrimary.
func unremovable(s *situation.Situation) string {
	next := s.End() - 1
	if s.Wanted == 0 || next < s.Wanted {
		return ""
	}
	primary, found := s.Primary()
	switch {
	case s.HasRoles() && !found:
		return "a member is the primary"
	case s.Unconfigured():
		return fmt.Sprintf("the database accepts the parameters for spec.replicas %d", s.Wanted)
	case s.HasRoles() && primary.Ordinal == next && disturb.Lowest(s) == nil:
		return fmt.Sprintf("another member can take over from pod %s", primary.Name)
	default:
		return unsafe(s, next)
	}
}

// unsafe is what has to happen before a member that serves is removed: as in a rollout, most of those that stay have to serve. Otherwise it
// may be the only other one with the last writes.
func unsafe(s *situation.Situation, next int32) string {
	enough, now := s.Wanted-spare(s.Wanted), serving(s)
	if !s.HasRoles() || !serves(s, next) || now >= enough {
		return ""
	}
	return fmt.Sprintf("%d of the members that stay are ready; now %d are", enough, now)
}

// serving is how many of the members that stay serve.
func serving(s *situation.Situation) (number int32) {
	for ordinal := range s.Wanted {
		if serves(s, ordinal) {
			number++
		}
	}
	return number
}

func serves(s *situation.Situation, ordinal int32) bool {
	_, found := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal && m.Serving(s.At) })
	return found
}

// Lower reduces the members to a number, one by one: each waits until the previous one is deleted.
func Lower(s *situation.Situation, to int32, reason string) phase.Outcome {
	replicas, known := s.Replicas()
	if !known {
		return phase.Over
	}
	for _, m := range slices.Backward(s.Members) {
		if m.Ordinal >= to && !s.Has(m.Ordinal) {
			return phase.Wait(reason, fmt.Sprintf("pod %s is terminating", m.Name))
		}
	}
	if s.End() <= to || to > 0 && s.Start() > 0 { // the others start before the first member leaves
		return phase.Over
	}
	if outcome := beforeStop(s, to, reason); outcome.Waits() {
		return outcome
	}
	member, start := next(s, to)
	if outcome := beforeRemoval(s, member, to); outcome.Waits() {
		return outcome
	}
	return phase.Do(reason, fmt.Sprintf("scaling in from %d to %d members, one at a time", replicas, to),
		scale(s, start, replicas-1, member, reason == dbv1.ReasonTerminating))
}

// scale lowers the replicas of the StatefulSet, from the ordinal start on, which stops a member. If all members stop permanently, the
// StatefulSet is marked, and the deletion hooks never run again.
func scale(s *situation.Situation, start, to, member int32, permanently bool) operation.Change {
	lowered, pod, text := s.StatefulSet.DeepCopy(), naming.Member(s.Cluster.Name, member), fmt.Sprintf("scale in to %d", to)
	lowered.Spec.Replicas = &to
	if start != s.Start() {
		lowered.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: start}
	}
	if start > 0 {
		text += fmt.Sprintf(" from %d", start)
	}
	objects.RecordStoredSpec(s.Cluster, s.StatefulSet, lowered)
	if permanently {
		metav1.SetMetaDataAnnotation(&lowered.ObjectMeta, dbv1.AnnotationTerminating, TerminatingMark(s.Cluster))
	}
	return operation.Change{Work: operation.Work{
		Is: operation.DisturbanceInDeletion, Text: text, Stops: pod, Event: operation.Normal("MemberStopped", "ScaleIn", "stopping pod "+pod),
	}, Patches: []operation.Patch{{Before: s.StatefulSet, After: lowered, Text: text}}}
}

// TerminatingMark returns the value of the annotation on the StatefulSet of a cluster whose members stop permanently.
func TerminatingMark(cluster *dbv1.DatabaseCluster) string {
	return cluster.DeletionTimestamp.UTC().Format(time.RFC3339)
}

// beforeStop is what has to happen before the next member stops.
func beforeStop(s *situation.Situation, to int32, reason string) phase.Outcome {
	if outcome := awaitPrimary(s, reason); outcome.Waits() {
		return outcome
	}
	if outcome := yield(s, to); outcome.Waits() {
		return outcome
	}
	return awaitSettled(s, to, reason)
}

// yield hands over before all stop, if the volume of the primary is being deleted and that of another member stays: the primary would be
// the only one with the last writes.
func yield(s *situation.Situation, to int32) phase.Outcome {
	primary, found := s.Primary()
	other := disturb.Lowest(s)
	if to > 0 || !found || other == nil || !s.LosesVolume(primary) {
		return phase.Over
	}
	return disturb.Yield(s, primary, other)
}

// next is the member that stops next, the one with the highest ordinal, and the lowest ordinal of those that are left. If all stop, the
// last one is the primary: no other can take over after it, without its last writes. The last stop sets the start to 0 in the same write,
// because a record without a lock counts for one change of the spec only.
func next(s *situation.Situation, to int32) (member, start int32) {
	start, member = s.Start(), s.End()-1
	if last, known := s.StopsLast(); to == 0 && known && last == member {
		member = start
		start++
	}
	if s.Start() == s.End()-1 { // the last one
		start = 0
	}
	return member, start
}

// awaitSettled lets a hibernation wait until the members that are left have every acknowledged write.
func awaitSettled(s *situation.Situation, to int32, reason string) phase.Outcome {
	left, why, _ := s.Unsettled()
	if unready := s.Settling(); unready > 0 {
		left, why = unready, fmt.Sprintf("waiting until pod %s is ready: then the members that are left have every acknowledged write",
			s.Unready())
	}
	if left <= 0 || to > 0 || !s.StopAwaitsData() {
		return phase.Over
	}
	outcome := phase.Wait(reason, why)
	outcome.RequeueAfter = left
	return outcome
}

// awaitPrimary lets the members elect a primary before one of them stops. The wait ends, so that a cluster without a primary can
// hibernate: all volumes stay, and the last primary starts first. A deletion does not wait, and the last member has no other.
func awaitPrimary(s *situation.Situation, reason string) phase.Outcome {
	replicas, _ := s.Replicas()
	if _, found := s.Primary(); !s.HasRoles() || s.Deleting() || found || replicas == 1 || s.Electing() == 0 {
		return phase.Over
	}
	outcome := phase.Wait(reason, fmt.Sprintf(
		"waiting for a primary. Without one, the members stop %.0f s after the last of them went down", s.TakeOver().Seconds()))
	outcome.RequeueAfter = s.Electing()
	return outcome
}

// beforeRemoval lets the others continue without a member: it hands over, and leaves their list. If all stop, no other has to continue.
func beforeRemoval(s *situation.Situation, ordinal, to int32) phase.Outcome {
	if to == 0 {
		return phase.Over
	}
	if m, runs := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal }); runs {
		if outcome := disturb.HandOver(s, m, disturb.Lowest(s)); outcome.Waits() {
			return outcome
		}
	}
	return disturb.Remove(s, ordinal)
}

// StopOrphans stops, one by one, members without a StatefulSet that no other controller stops, for example while the operator
// re-creates it. If another client deleted the StatefulSet, Kubernetes is about to stop them. If it has another owner now, for
// example after a deletion with `--cascade=orphan`, that owner decides.
func StopOrphans(s *situation.Situation) phase.Outcome {
	if s.StatefulSet != nil {
		return phase.Over
	}
	for _, m := range orphans(s) {
		switch {
		case m.Terminating:
			return phase.Wait(dbv1.ReasonTerminating, fmt.Sprintf("pod %s is terminating", m.Name))
		case m.Owner == "":
			return phase.Do(dbv1.ReasonTerminating, fmt.Sprintf("stopping pod %s, which has no StatefulSet", m.Name), operation.Stop(operation.Work{
				Is: operation.DisturbanceInDeletion, Text: "stop ", Event: operation.Normal("MemberStopped", "Stop", ""),
			}, m))
		case !s.ForeignStatefulSet():
			return phase.Wait(dbv1.ReasonTerminating,
				fmt.Sprintf("waiting for Kubernetes to stop pod %s, because its StatefulSet no longer exists", m.Name))
		}
	}
	return phase.Over
}

// orphans are the members in the order in which they stop: see next.
func orphans(s *situation.Situation) []state.Member {
	last, known := s.StopsLast()
	rank := func(m state.Member) int32 {
		if known && m.Ordinal == last {
			return -1
		}
		return m.Ordinal
	}
	return slices.SortedFunc(slices.Values(s.Members), func(a, b state.Member) int { return cmp.Compare(rank(b), rank(a)) })
}
