/*
SPDX-License-Identifier: Apache-2.0
*/

// Package situation is all that a pass knows about a cluster before it decides: the resolved spec, the observed state, and values
// that several decisions derive from them. It is computed once.
package situation

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/pods"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Situation is the input of all decisions of a pass. Decisions never write it.
type Situation struct {
	// Declared is the cluster as it is stored. Cluster is the same with the engine in force, and with the values from it.
	Declared, Cluster *dbv1.DatabaseCluster
	state.Observed

	// Comparisons remember what earlier passes have compared; nil if they remember nothing. No decision depends on it.
	Comparisons *objects.Comparisons

	// Wanted is how many members there should be.
	Wanted int32
	// Own are the claims that were created for this cluster, or that it adopted. Left are the claims that a previous cluster of the
	// same name retained, and that members would use or that new members may adopt. Both exclude claims that the operator must not
	// change.
	Own, Left []state.Volume
	// PreviousUser is an object of a previous cluster of the same name that may still use its volumes; "" for none.
	PreviousUser string
	// Restoration is the restore that has to finish before members can be created; nil for none.
	Restoration *Restoration
	// Next is the cluster as it is to be with other volumes, before it has members: a DatabaseRestore asks for them, or has asked for those
	// in use; nil for none.
	Next *Situation
	// Lost are the volumes with data that no longer exist, and whose data no other member has.
	Lost []Loss
	// Incompatible is why the spec and its engine are incompatible. Unusable is why no pod can be created from the spec:
	// incompatibility, or a missing object that the spec names. Both are nil in a deletion, which needs no pod.
	Incompatible, Unusable *Stall

	// Upkeep are the operations of every pass, in any phase. Stalled is the cause for which the user must act. Only the phases have
	// them: see With.
	Upkeep  operation.List
	Stalled *Stall
	// Leftovers are objects that nothing uses once the cluster is up to date, or has been deleted.
	Leftovers []operation.Removal
}

// With returns the situation of the phases, which report what the pass has decided before them.
func (s *Situation) With(upkeep operation.List, stalled *Stall, leftovers []operation.Removal) *Situation {
	next := *s
	next.Upkeep, next.Stalled, next.Leftovers = upkeep, stalled, leftovers
	return &next
}

// Stall is a reason of the Stalled condition, with a message that contains the remedy.
type Stall struct {
	Reason, Message string
}

// Blocked reports whether the only problem is a Job that cannot start or continue. It continues after the user has acted.
func (s *Stall) Blocked() bool { return s != nil && s.Reason == dbv1.ReasonJobBlocked }

// Of computes the situation of a cluster.
func Of(declared *dbv1.DatabaseCluster, observed state.Observed) *Situation {
	declared = observed.WithVolumes(declared)
	s := &Situation{Declared: declared, Cluster: engine.Resolve(observed.Change.InForce(declared), observed.Engine), Observed: observed}
	if s.NoAttributesClasses { // no decision depends on a field that the API server drops
		s.Cluster.Spec.Storage.VolumeAttributesClassName = ""
	}
	Decided(&s.Cluster.Spec, declared)
	s.Wanted = s.Cluster.Spec.Replicas
	if s.Cluster.Spec.Hibernated {
		s.Wanted = 0
	}
	for _, v := range observed.Volumes {
		switch {
		case s.labeled(v), s.Strayed(v) && !s.Deleting():
			s.Own = append(s.Own, v)
		case s.concerns(v):
			s.Left = append(s.Left, v)
		}
	}
	engine.FitParameters(s.Cluster, s.Change.InForce(declared), s.Engine, s.room())
	s.PreviousUser = s.previousUser()
	s.Restoration = s.restoration()
	s.Lost = s.losses()
	if !s.Deleting() {
		s.Incompatible = s.incompatible()
		s.Unusable = s.unusable()
		s.Next = s.next()
	}
	if s.Switches() {
		s.Wanted = 0
	}
	return s
}

// room is the size of the smallest data volume in bytes. A volume that grows has its previous size until it has grown.
func (s *Situation) room() int64 {
	smallest := s.Cluster.Spec.Storage.Size.Value()
	for _, v := range s.InUse() {
		if capacity := v.Capacity.Value(); capacity > 0 {
			smallest = min(smallest, capacity)
		}
	}
	return smallest
}

// Deleting reports whether the cluster is being deleted.
func (s *Situation) Deleting() bool { return s.Cluster.DeletionTimestamp != nil }

// Stopping reports whether no member is to run: the cluster is being deleted, or hibernates.
func (s *Situation) Stopping() bool { return s.Deleting() || s.Wanted == 0 }

// HasFinalizer reports whether the cluster has the operator's finalizer.
func (s *Situation) HasFinalizer() bool {
	return state.HasFinalizer(s.Cluster)
}

// Ephemeral reports whether the data of members is deleted with their pods.
func (s *Situation) Ephemeral() bool {
	return pods.Ephemeral(s.Cluster)
}

// NotStarted reports whether the cluster has no members yet: new members would use existing volumes.
func (s *Situation) NotStarted() bool { return s.StatefulSet == nil && len(s.Members) == 0 }

// Abandoned returns a member that Kubernetes is about to stop, because its StatefulSet was deleted with its pods.
func (s *Situation) Abandoned() (member state.Member, found bool) {
	return state.First(s.Members, func(m state.Member) bool { return s.StatefulSet == nil && m.Owner != "" && !m.Terminating })
}

// StatefulSetTerminating reports whether the StatefulSet is being deleted.
func (s *Situation) StatefulSetTerminating() bool {
	return s.StatefulSet != nil && s.StatefulSet.DeletionTimestamp != nil
}

// ForeignStatefulSet reports whether the StatefulSet of the cluster's name has another owner.
func (s *Situation) ForeignStatefulSet() bool {
	return slices.ContainsFunc(s.Foreign, state.Ref.IsStatefulSet)
}

// ForeignService reports whether a Service of the cluster's names has another owner. A certificate would be valid for it.
func (s *Situation) ForeignService() bool {
	return s.OwnedByAnother("Service", naming.Service(s.Cluster.Name)) || s.OwnedByAnother("Service", naming.HeadlessService(s.Cluster.Name))
}

// ForeignServiceAccount reports whether the ServiceAccount of the cluster's name has another owner, although pods need it.
func (s *Situation) ForeignServiceAccount() bool {
	return s.OwnedByAnother("ServiceAccount", naming.ServiceAccount(s.Cluster.Name))
}

// JobObstacle returns why no Job of the cluster may start; "" if Jobs may. Without it, the author of a DatabaseCluster could run
// commands as a ServiceAccount of another owner.
func (s *Situation) JobObstacle() string {
	return pods.ServiceAccountProblem(s.Cluster, s.ServiceAccount)
}

// Running returns how many replicas a StatefulSet needs to adopt all running members.
func (s *Situation) Running() int32 {
	var needed int32
	for _, m := range s.Members {
		if !m.Terminating {
			needed = m.Ordinal + 1
		}
	}
	return needed
}

// OwnsServiceAccount reports whether the operator created the ServiceAccount for this cluster.
func (s *Situation) OwnsServiceAccount() bool {
	return s.ServiceAccount != nil && s.ServiceAccount.Labels[dbv1.LabelClusterUID] == string(s.Cluster.UID)
}

// InUse returns the volumes of existing and desired members. It excludes retained volumes of removed members, and volumes of a
// previous cluster that are not adopted.
func (s *Situation) InUse() []state.Volume {
	members := max(s.Cluster.Spec.Replicas, s.Running())
	return state.Only(s.Volumes, func(v state.Volume) bool { return v.Ordinal < members && !s.Previous(v) })
}

// Staying returns the volumes that are not being deleted.
func Staying(all []state.Volume) []state.Volume {
	return state.Only(all, func(v state.Volume) bool { return !v.Terminating })
}

// LosesVolume reports whether the volume of a member is being deleted. Kubernetes deletes it when the pod has ended.
func (s *Situation) LosesVolume(m state.Member) bool {
	return slices.ContainsFunc(s.Volumes, func(v state.Volume) bool { return v.Ordinal == m.Ordinal && v.Terminating })
}

// Previous reports whether a volume belongs to a previous cluster of the same name.
func (s *Situation) Previous(v state.Volume) bool {
	return v.Usable() && v.Cluster != s.Cluster.UID && !s.Strayed(v)
}

// labeled reports whether a volume has the labels of this cluster.
func (s *Situation) labeled(v state.Volume) bool { return v.Usable() && v.Cluster == s.Cluster.UID }

// Strayed reports whether a volume of this cluster has lost labels. The status records by its UID that it had them. A claim that a user has
// created never had them.
func (s *Situation) Strayed(v state.Volume) bool {
	return !s.labeled(v) && slices.ContainsFunc(s.Cluster.Status.Volumes,
		func(r dbv1.VolumeRecord) bool {
			return r.Labels == dbv1.VolumeLabelsRestored && r.Claim == v.Claim && r.UID == string(v.UID)
		})
}

// Sooner returns the shorter of two delays; 0 means never.
func Sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// MissingRequeue is the interval for checking a missing or incompatible Secret, ConfigMap or DatabaseEngine, and a growing volume
// whose claim lacks our labels. The operator does not watch these.
const MissingRequeue = 10 * time.Second

// ProgressRequeue is the interval for checking the progress of an action.
const ProgressRequeue = 5 * time.Second

// UsersRequeue is the interval for checking whether a pod or Job still uses volumes, in case its watch misses the end. It may run
// for hours.
const UsersRequeue = time.Minute
