/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
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

// HandedOver ends requests early, before a rollout or another action changes the primary: the request must not be executed again.
func HandedOver(s *situation.Situation) phase.Outcome {
	request, open := s.Request(dbv1.RequestHandOver)
	if !open {
		return phase.Over
	}
	pod := podOf(request.Request)
	switch leads, ended := handedOver(s, request); {
	case leads:
		return disturb.AfterOthers(s, complete(dbv1.ReasonHandingOver, request, fmt.Sprintf("pod %s is the primary", pod)))
	case ended:
		return complete(dbv1.ReasonHandingOver, request, fmt.Sprintf("the primary has handed over, but pod %s is not the primary", pod))
	default:
		return phase.Over
	}
}

// handedOver reports whether a request has ended: the pod is the primary, or its Job has succeeded. Then the engine may have chosen another
// replica.
func handedOver(s *situation.Situation, request dbv1.ClusterRequestStatus) (leads, ended bool) {
	primary, found := s.Primary()
	task, _ := s.JobOf(requestJob(s, request))
	return found && primary.Name == podOf(request.Request), situation.Accepted(request) && task.Succeeded && !task.Ending
}

// requestJob is the name of the Job of a request.
func requestJob(s *situation.Situation, request dbv1.ClusterRequestStatus) string {
	return naming.HandOverJob(s.Cluster.Name, "request", request.Request, string(s.Cluster.UID))
}

// cannotHandOver is why a request cannot be executed: the pod cannot become the primary; "" for nothing. Without its engine, nothing is
// known about the roles of the members.
func cannotHandOver(s *situation.Situation, request dbv1.ClusterRequestStatus) string {
	ordinal, named := naming.Ordinal(s.Cluster.Name, podOf(request.Request))
	leads, ended := handedOver(s, request)
	switch {
	case leads || ended || !s.EngineKnown():
		return ""
	case !s.HasRoles():
		return "the members have no primary"
	case !named || ordinal >= s.Cluster.Spec.Replicas:
		return podsOf(s)
	case situation.Accepted(request): // its Job may run already
		return ""
	default:
		return moves(s, ordinal)
	}
}

// moves is why a member would not stay the primary: it hands over because of its node. It stays if all members have to leave theirs.
func moves(s *situation.Situation, ordinal int32) string {
	target, runs := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	elsewhere := slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Leaves == "" && m.Serving(s.At) })
	if !runs || target.Leaves == "" || !elsewhere || !s.MovesPrimary() {
		return ""
	}
	return fmt.Sprintf("node %s of pod %s %s, so the primary would move away again. Uncordon the node, or set spec.disruption.onCordon "+
		"to Ignore", target.Node, target.Name, target.Leaves)
}

// HandOver executes the user's request for another primary. It is accepted when no Job of an earlier request with the same text exists, so
// any later Job of that name is its own. HandedOver ends it.
func HandOver(s *situation.Situation) phase.Outcome {
	request, open := s.Request(dbv1.RequestHandOver)
	pod := podOf(request.Request)
	primary, found := s.Primary()
	target, runs := state.First(s.Members, func(m state.Member) bool { return m.Name == pod })
	switch {
	case !open || s.Wanted == 0 || cannotHandOver(s, request) != "":
		return phase.Over
	case !found:
		return phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("the hand-over to pod %s waits for a primary", pod))
	case !runs || !target.Serving(s.At):
		return phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("the hand-over waits until pod %s is ready", pod))
	}
	job, text := requestJob(s, request), fmt.Sprintf("pod %s hands over to another member", primary.Name)
	if !situation.Accepted(request) {
		if outcome := disturb.Forget(s, job, dbv1.ReasonHandingOver, text); outcome.Waits() {
			return outcome
		}
		return accept(dbv1.ReasonHandingOver, request, text)
	}
	return handOver(s, request, primary, target)
}

// handOver runs the Job of an accepted request. If that fails or cannot start, the request is refused: the database is healthy, and the
// present primary stays.
func handOver(s *situation.Situation, request dbv1.ClusterRequestStatus, primary, target state.Member) phase.Outcome {
	job, text := requestJob(s, request), fmt.Sprintf("pod %s hands over to another member", primary.Name)
	if why, began := disturb.Fails(s, job, text); why != "" {
		return refuse(dbv1.ReasonHandingOver, request, why, began)
	}
	outcome, done := disturb.Request(s, primary, []int32{target.Ordinal}, job)
	if done {
		outcome = phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("%s after a minute: it was not the primary when Job %s ran", text, job))
		outcome.RequeueAfter = disturb.Again
	}
	return outcome
}
