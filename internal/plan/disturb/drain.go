/*
SPDX-License-Identifier: Apache-2.0
*/

package disturb

import (
	"fmt"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Refuges are the members to which a primary hands over, if other replicas have to leave their nodes, or the cluster. There are none if any
// replica may take over: the engine selects the best. There are none as well if none is on another node.
func Refuges(s *situation.Situation) (to []int32) {
	all := s.Refuges()
	stay := state.Only(all, func(m state.Member) bool { return m.Ordinal < s.Wanted })
	if len(stay) == len(s.Successors()) {
		return nil
	}
	if len(stay) == 0 { // better than a node that pods have to leave now
		stay = all
	}
	for _, m := range stay {
		to = append(to, m.Ordinal)
	}
	return to
}

// Evacuate lets the primary hand over before its node is drained. It is over while no member on another node can take over, so that no
// other phase waits for that. After the time of a drain, it does not repeat a hand-over that has failed.
func Evacuate(s *situation.Situation) phase.Outcome {
	primary, drained := s.Drained()
	if !drained || !s.MovesPrimary() || len(s.Refuges()) == 0 || s.Wanders() {
		return phase.Over
	}
	to := Refuges(s)
	name := naming.HandOverJob(s.Cluster.Name, slices.Concat([]string{string(primary.UID), "drain"}, podsOf(s, to))...)
	purpose := fmt.Sprintf("node %s %s: the primary %s hands over to %s", primary.Node, primary.Leaves, primary.Name, places(s, to))
	if s.DrainLeft() == 0 && givesUp(s, name, purpose) {
		return phase.Over
	}
	request := resources.HandOver{Member: primary.Ordinal, To: to, Name: name, Members: s.End(), Companions: s.Companions != nil}
	outcome, done := Run(s, resources.HandOverJob(s.Cluster, s.Engine, request), dbv1.ReasonHandingOver, purpose)
	if done {
		outcome = phase.Wait(dbv1.ReasonHandingOver, purpose+"; waiting for its role")
		outcome.RequeueAfter = Again
	}
	return outcome
}

// givesUp reports whether there is no other attempt: a hand-over has failed, also to other members, or its Job cannot be created.
func givesUp(s *situation.Situation, job, purpose string) bool {
	why, _ := Fails(s, job, purpose)
	_, exists := s.JobOf(job)
	failed := slices.ContainsFunc(s.Jobs, func(t jobs.Job) bool { return t.Component == dbv1.ComponentHandOver && t.Failed && !counts(t) })
	return why != "" || !exists && (failed || s.JobObstacle() != "")
}

// podsOf are the UIDs of the pods of members. They are in the name of a Job: if other members can take over, it runs again.
func podsOf(s *situation.Situation, members []int32) []string {
	if len(members) == 0 {
		return []string{"any"}
	}
	var all []string
	for _, ordinal := range members {
		all = append(all, podOf(s, ordinal))
	}
	return all
}

// places are the members that may take over, with their nodes.
func places(s *situation.Situation, to []int32) string {
	var all []string
	for _, m := range s.Refuges() {
		if len(to) == 0 || slices.Contains(to, m.Ordinal) {
			all = append(all, fmt.Sprintf("%s on node %s", m.Name, m.Node))
		}
	}
	return strings.Join(all, " or ")
}
