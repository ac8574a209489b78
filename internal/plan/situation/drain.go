/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

const (
	// DrainTimeout is how long a drain waits for a hand-over. Managed services give a node 15 minutes and more.
	DrainTimeout = 5 * time.Minute
	// drainMoves is how often a primary may move to another node that is drained, too. Then the operator no longer moves it.
	drainMoves = 2
)

// MovesPrimary reports whether the primary hands over because of its node. A paused operator starts no hand-over, so no drain waits for
// one.
func (s *Situation) MovesPrimary() bool {
	return s.HasRoles() && s.Cluster.Spec.Disruption.OnCordon != dbv1.CordonIgnore && !s.Cluster.Spec.Paused && !s.Stopping()
}

// Successors are the replicas that can take over from the primary, by ordinal.
func (s *Situation) Successors() []state.Member {
	return state.Only(s.Members, func(m state.Member) bool {
		return m.Serving(s.At) && s.RoleOf(m) == dbv1.RoleReplica && !s.LosesVolume(m)
	})
}

// Refuges are those on nodes that pods need not leave.
func (s *Situation) Refuges() []state.Member {
	return state.Only(s.Successors(), func(m state.Member) bool { return m.Leaves == "" })
}

// Drained is the primary, if pods have to leave its node.
func (s *Situation) Drained() (primary state.Member, found bool) {
	primary, found = s.Primary()
	return primary, found && primary.Leaves != ""
}

// Drain is the record of such a primary in the status after this pass; nil for none. It stays while no member is the primary.
func (s *Situation) Drain() *dbv1.ClusterDrainStatus {
	before := s.Cluster.Status.Drain
	_, elected := s.Primary()
	primary, drained := s.Drained()
	switch {
	case !s.HasRoles() || s.Stopping() || elected && !drained:
		return nil
	case !elected || before != nil && before.Pod == primary.Name && before.Node == primary.Node:
		return before
	}
	now := &dbv1.ClusterDrainStatus{Pod: primary.Name, Node: primary.Node, Since: metav1.NewTime(s.At).Rfc3339Copy()}
	if before != nil {
		now.Moves = min(before.Moves+1, drainMoves)
	}
	return now
}

// DrainLeft is how long a drain may still wait for a hand-over.
func (s *Situation) DrainLeft() time.Duration {
	if d := s.Drain(); d != nil {
		return max(0, DrainTimeout-s.At.Sub(d.Since.Time))
	}
	return DrainTimeout
}

// Wanders reports whether hand-overs have moved the primary only to other nodes that pods have to leave.
func (s *Situation) Wanders() bool { return s.Drain() != nil && s.Drain().Moves >= drainMoves }

// GuardsPrimary reports whether a drain must not evict the primary: it hands over first, or another member would take over on a node that
// is drained, too. Without other members that serve, the budget of all members decides. In a hand-over, no member is the primary for a
// moment.
func (s *Situation) GuardsPrimary() bool {
	_, elected := s.Primary()
	handsOver := s.PrimaryBudget != nil && s.Drain() != nil
	leave := slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Leaves != "" })
	return (elected || handsOver) && leave && s.MovesPrimary() && len(s.Successors()) > 0 && s.DrainLeft() > 0 && !s.Wanders() &&
		!s.OwnedByAnother("PodDisruptionBudget", naming.PrimaryBudget(s.Cluster.Name))
}

// SplitsBudget reports whether the budget of the members leaves out the primary. It does so before the primary gets its own, and until
// that is deleted: Kubernetes evicts no pod that two budgets select.
func (s *Situation) SplitsBudget() bool {
	return s.HasRoles() && (s.PrimaryBudget != nil || s.GuardsPrimary())
}
