/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
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

// HandedOver ends requests early, before a rollout changes the primary: the request must not come again. It refuses those that name no
// replica.
func HandedOver(s *situation.Situation) phase.Outcome {
	request, open := s.Request(dbv1.RequestHandOver)
	if !open {
		return phase.Over
	}
	pod := podOf(request.Request)
	primary, found := s.Primary()
	why := impossible(s, pod)
	switch {
	case why != "":
		return refuse(dbv1.ReasonHandingOver, request, why)
	case found && primary.Name == pod:
		return disturb.AfterOthers(s, complete(dbv1.ReasonHandingOver, request, fmt.Sprintf("pod %s is the primary", pod)))
	default:
		return phase.Over
	}
}

// impossible is why a pod cannot become the primary on request; "" for nothing.
func impossible(s *situation.Situation, pod string) string {
	ordinal, named := naming.Ordinal(s.Cluster.Name, pod)
	switch {
	case !s.HasRoles():
		return "the members have no primary"
	case !named || ordinal >= s.Cluster.Spec.Replicas:
		return pods(s)
	default:
		return ""
	}
}

// HandOver executes the user's request for another primary. The request has ended when the pod is the primary, or when its Job has succeeded: the
// engine may have chosen another replica.
func HandOver(s *situation.Situation) phase.Outcome {
	request, open := s.Request(dbv1.RequestHandOver)
	pod := podOf(request.Request)
	primary, found := s.Primary()
	target, runs := state.First(s.Members, func(m state.Member) bool { return m.Name == pod })
	switch {
	case !open || s.Wanted == 0:
		return phase.Over
	case !found:
		return phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("the hand-over to pod %s waits for a primary", pod))
	case !runs || !target.Serving(s.At):
		return phase.Wait(dbv1.ReasonHandingOver, fmt.Sprintf("the hand-over waits until pod %s is ready", pod))
	case !situation.Accepted(request):
		return accept(dbv1.ReasonHandingOver, request, fmt.Sprintf("pod %s hands over to another member", primary.Name))
	}
	job := naming.HandOverJob(s.Cluster.Name, "request", request.Request, string(s.Cluster.UID))
	outcome, done := disturb.Request(s, primary, &target.Ordinal, job)
	if done {
		return complete(dbv1.ReasonHandingOver, request, fmt.Sprintf("pod %s has handed over", primary.Name))
	}
	return outcome
}
