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

// AwaitOnePrimary disturbs nothing while more than one member reports that it is the primary.
func AwaitOnePrimary(s *situation.Situation) phase.Outcome {
	if !s.SplitBrain() {
		return phase.Over
	}
	outcome := phase.Wait(dbv1.ReasonTwoPrimaries, primaries(s)+"; the operator disturbs no member")
	outcome.RequeueAfter = situation.ProgressRequeue
	return outcome
}

// TwoPrimaries is the stall of a cluster with two primaries for longer than its lock allows. A hand-over shows both for a moment.
func TwoPrimaries(s *situation.Situation) *situation.Stall {
	if !s.SplitBrain() || !s.SplitBrainLasts() {
		return nil
	}
	return &situation.Stall{Reason: dbv1.ReasonTwoPrimaries, Message: primaries(s) + ". The operator disturbs no member. " +
		"See the logs of both pods, and decide which one has the data; then delete the pod of the other"}
}

func primaries(s *situation.Situation) string {
	var names []string
	for _, m := range s.ReadyPrimaries() {
		names = append(names, m.Name)
	}
	return "pods " + strings.Join(names, " and ") + " report that they are the primary"
}

// request is the pod that the user wants as the primary, if the request has not ended yet.
func request(s *situation.Situation) (pod string, open bool) {
	asked := s.Cluster.Annotations[dbv1.AnnotationHandOver]
	return podOf(asked), asked != "" && s.StatefulSet != nil && s.StatefulSet.Annotations[dbv1.AnnotationHandedOver] != asked
}

// podOf is the pod that a request names. With text after a slash, a request differs from the last one for the same pod.
func podOf(request string) string {
	pod, _, _ := strings.Cut(request, "/")
	return pod
}

// ended records that the request has ended.
func ended(s *situation.Situation, message string) phase.Outcome {
	return phase.Do(dbv1.ReasonHandingOver, message,
		operation.Record{Key: dbv1.AnnotationHandedOver, Value: s.Cluster.Annotations[dbv1.AnnotationHandOver]})
}

// forgotten reports whether the user has removed a request that was recorded, so that the same request can come again.
func forgotten(s *situation.Situation, request, record string) bool {
	return s.StatefulSet != nil && s.Cluster.Annotations[request] == "" && s.StatefulSet.Annotations[record] != ""
}

func forget(reason, record string) phase.Outcome {
	return phase.Do(reason, "the request has been removed", operation.Record{Key: record})
}

// requestJob is the Job of a request. The same request has the same one after it was removed: its result counts for a minute.
func requestJob(s *situation.Situation) string {
	return naming.HandOverJob(s.Cluster.Name, "request", s.Cluster.Annotations[dbv1.AnnotationHandOver], string(s.StatefulSet.UID))
}

// ImpossibleRequest is the stall of a request that names no replica.
func ImpossibleRequest(s *situation.Situation) *situation.Stall {
	pod, open := request(s)
	if !open {
		return nil
	}
	ordinal, named := naming.Ordinal(s.Cluster.Name, pod)
	text := ""
	switch {
	case !s.HasRoles():
		text = "the members have no primary"
	case !named || ordinal >= s.Cluster.Spec.Replicas:
		text = fmt.Sprintf("the cluster has the pods %s to %s", naming.Member(s.Cluster.Name, 0), naming.Member(s.Cluster.Name, s.Cluster.Spec.Replicas-1))
	default:
		return nil
	}
	return &situation.Stall{Reason: dbv1.ReasonHandOverFailed, Message: fmt.Sprintf(
		"the annotation %s names %q, but %s. Correct or remove the annotation", dbv1.AnnotationHandOver, pod, text)}
}

// HandedOver records a request that has ended, before a rollout changes the primary: the request must not come again.
func HandedOver(s *situation.Situation) phase.Outcome {
	pod, open := request(s)
	primary, found := s.Primary()
	switch {
	case forgotten(s, dbv1.AnnotationHandOver, dbv1.AnnotationHandedOver):
		return forget(dbv1.ReasonHandingOver, dbv1.AnnotationHandedOver)
	case open && found && primary.Name == pod:
		return ended(s, fmt.Sprintf("pod %s is the primary", pod))
	default:
		return phase.Over
	}
}

// HandOver executes the user's request for another primary. The request has ended when the pod is the primary, or when its Job has succeeded: the
// engine may have chosen another replica.
func HandOver(s *situation.Situation) phase.Outcome {
	pod, open := request(s)
	primary, found := s.Primary()
	target, runs := state.First(s.Members, func(m state.Member) bool { return m.Name == pod })
	switch {
	case !open || ImpossibleRequest(s) != nil || s.Wanted == 0:
		return phase.Over
	case !found:
		return phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("the hand-over to pod %s waits for a primary", pod))
	case !runs || !target.Serving(s.At):
		return phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("the hand-over waits until pod %s is ready", pod))
	}
	outcome, done := disturb.Request(s, primary, &target.Ordinal, requestJob(s))
	if done {
		return ended(s, fmt.Sprintf("pod %s has handed over", primary.Name))
	}
	return outcome
}
