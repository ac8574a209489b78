/*
SPDX-License-Identifier: Apache-2.0
*/

package disturb

import (
	"fmt"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
)

// Refuge is the member to which a primary hands over, if pods have to leave the nodes of other replicas. It is nil if any replica may take
// over: the engine selects the best. It is nil as well if none is on another node.
func Refuge(s *situation.Situation) *int32 {
	refuges := s.Refuges()
	if len(refuges) == 0 || len(refuges) == len(s.Successors()) {
		return nil
	}
	return &refuges[0].Ordinal
}

// Evacuate lets the primary hand over before its node is drained. It is over while no member on another node can take over, so that no
// other phase waits for that. After the time of a drain, it does not repeat a hand-over that has failed.
func Evacuate(s *situation.Situation) phase.Outcome {
	primary, drained := s.Drained()
	if !drained || !s.MovesPrimary() || len(s.Refuges()) == 0 || s.Wanders() {
		return phase.Over
	}
	to, target := Refuge(s), "any"
	if to != nil {
		target = podOf(s, *to)
	}
	name := naming.HandOverJob(s.Cluster.Name, string(primary.UID), "drain", target)
	purpose := fmt.Sprintf("node %s %s: the primary %s hands over to %s", primary.Node, primary.Leaves, primary.Name, places(s, to))
	why, _ := Fails(s, name, purpose)
	if _, exists := s.JobOf(name); s.DrainLeft() == 0 && (why != "" || !exists && s.JobObstacle() != "") {
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

// places are the members that may take over, with their nodes.
func places(s *situation.Situation, to *int32) string {
	var all []string
	for _, m := range s.Refuges() {
		if to == nil || m.Ordinal == *to {
			all = append(all, fmt.Sprintf("%s on node %s", m.Name, m.Node))
		}
	}
	return strings.Join(all, " or ")
}
