/*
SPDX-License-Identifier: Apache-2.0
*/

// Package situation is all that a pass knows of a cluster before it decides, computed once: the resolved spec, what was
// observed, and what follows from the two for more than one decision.
package situation

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Situation is what one pass decides from. Decisions read it and never write it.
type Situation struct {
	// Declared is the cluster as it is stored, Cluster the same with what its engine adds to the spec.
	Declared, Cluster *dbv1.DatabaseCluster
	state.Observed

	// Wanted is how many members there should be.
	Wanted int32
	// Own are the claims that were created for this cluster, or that it adopted. Left are those that a previous cluster of
	// the same name has left. Both leave out claims that the operator must not write on.
	Own, Left []state.Volume
	// PreviousUser is what a previous cluster of the same name has left that may still use its volumes; "" for nothing.
	PreviousUser string
	// Restoration is what is left to restore before members can be created; nil for nothing.
	Restoration *Restoration
	// Incompatible is why the spec and its engine do not fit each other. Unusable is why no pod can be created from the spec:
	// that, or an object that the spec names and that does not exist. Both are nil in a deletion, which needs no pod.
	Incompatible, Unusable *Stall

	// Upkeep are the operations that every pass executes, whatever else it waits for. Stalled is what only a human can
	// change. Both are decided before the phases, which explain them.
	Upkeep  operation.List
	Stalled *Stall
}

// Stall is a reason of the Stalled condition with a message that says what to do.
type Stall struct {
	Reason, Message string
}

// Blocked tells whether it is only a Job that cannot start, or not continue: it goes on once it can.
func (s *Stall) Blocked() bool { return s != nil && s.Reason == dbv1.ReasonJobBlocked }

// Of computes the situation of a cluster.
func Of(declared *dbv1.DatabaseCluster, observed state.Observed) *Situation {
	s := &Situation{Declared: declared, Cluster: engine.Resolve(declared, observed.Engine), Observed: observed}
	s.Wanted = s.Cluster.Spec.Replicas
	if s.Cluster.Spec.Hibernated {
		s.Wanted = 0
	}
	for _, v := range observed.Volumes {
		switch {
		case v.Usable() && v.Cluster == s.Cluster.UID:
			s.Own = append(s.Own, v)
		case v.Usable() && !s.Ephemeral():
			s.Left = append(s.Left, v)
		}
	}
	s.PreviousUser = s.previousUser()
	s.Restoration = s.restoration()
	if !s.Deleting() {
		s.Incompatible = s.incompatible()
		s.Unusable = s.unusable()
	}
	return s
}

// Deleting tells whether the cluster is being deleted.
func (s *Situation) Deleting() bool { return s.Cluster.DeletionTimestamp != nil }

// HasFinalizer tells whether the operator's finalizer is on the cluster.
func (s *Situation) HasFinalizer() bool {
	return state.Holds(s.Cluster)
}

// Ephemeral tells whether the data of members is deleted with their pods.
func (s *Situation) Ephemeral() bool {
	return s.Cluster.Spec.Storage.Ephemeral != nil && *s.Cluster.Spec.Storage.Ephemeral
}

// NotStarted tells whether the members are still to be created: they would take up what volumes there are.
func (s *Situation) NotStarted() bool { return s.StatefulSet == nil && len(s.Members) == 0 }

// StatefulSetTerminating tells whether the StatefulSet is being deleted.
func (s *Situation) StatefulSetTerminating() bool {
	return s.StatefulSet != nil && s.StatefulSet.DeletionTimestamp != nil
}

// ForeignStatefulSet tells whether the StatefulSet of the cluster's name is another owner's.
func (s *Situation) ForeignStatefulSet() bool {
	return slices.ContainsFunc(s.Foreign, state.Ref.IsStatefulSet)
}

// Running is how many members a StatefulSet has to have that takes over those that run.
func (s *Situation) Running() int32 {
	var needed int32
	for _, m := range s.Members {
		if !m.Terminating {
			needed = m.Ordinal + 1
		}
	}
	return needed
}

// ReplicasNow is what the StatefulSet is told now: members come all at once but go one by one. A member
// whose former volume is still on its way out has to wait: it would start with a volume that goes. So has one that
// would find a part of a backup.
func (s *Situation) ReplicasNow() int32 {
	live, known := s.Replicas()
	if !known {
		live = s.Running()
	}
	wanted := s.Wanted
	for _, v := range s.Volumes {
		if (v.Terminating || v.Fill == state.Filling) && v.Ordinal >= live {
			wanted = min(wanted, v.Ordinal)
		}
	}
	return max(live, wanted)
}

// OtherSize tells whether the StatefulSet creates claims of another size than the spec's.
func (s *Situation) OtherSize() bool {
	if s.StatefulSet == nil {
		return false
	}
	size, makes := resources.ClaimSize(s.StatefulSet)
	return makes && size.Cmp(s.Cluster.Spec.Storage.Size) != 0
}

// InUse are the volumes of the members that there are or should be, not those that were kept when members
// went, nor those of a previous cluster that are not this one's.
func (s *Situation) InUse() []state.Volume {
	members := max(s.Cluster.Spec.Replicas, s.Running())
	return state.Only(s.Volumes, func(v state.Volume) bool { return v.Ordinal < members && !s.Previous(v) })
}

// Previous tells whether a volume is one that a previous cluster of the same name has left.
func (s *Situation) Previous(v state.Volume) bool {
	return v.Usable() && v.Cluster != s.Cluster.UID
}

// Sooner is the shorter of two delays, of which 0 means never.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// MissingAgain is how often a Secret, ConfigMap or DatabaseEngine is looked for that does not exist or does
// not fit, and at a volume that grows and whose claim lacks our labels: none of them is watched.
const MissingAgain = 10 * time.Second

// ProgressAgain is how often it is looked how far an action is.
const ProgressAgain = 5 * time.Second

// UsersAgain is how often it is looked whether a pod or Job still uses volumes, should its watch miss the end: it may
// run for hours.
const UsersAgain = time.Minute
