/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"math"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// HasRoles reports whether one member is the primary.
func (s *Situation) HasRoles() bool { return engine.HasRoles(s.Engine) }

// Consents reports whether the members agree by a majority.
func (s *Situation) Consents() bool { return engine.Consents(s.Engine) }

// Related reports whether the members have one database together.
func (s *Situation) Related() bool { return engine.Related(s.Engine) }

// Majority is the lowest number of members that are more than half of a cluster.
func Majority(members int32) int32 { return members/2 + 1 }

// SplitBrain reports whether more than one ready member reports that it is the primary.
func (s *Situation) SplitBrain() bool { return len(s.ReadyPrimaries()) > 1 }

// Serves reports whether clients can use the database.
func (s *Situation) Serves() bool {
	switch {
	case s.HasRoles():
		_, found := s.Primary()
		return found
	case s.Consents(): // a member is ready only while it belongs to a majority
		return s.Ready() > 0
	default:
		return s.Ready() >= s.Cluster.Spec.Replicas
	}
}

// Answers reports whether the database can be changed: a database that refuses writes may need other parameters for that.
func (s *Situation) Answers() bool {
	_, refuses := s.Refusing()
	return s.Serves() || refuses
}

// FirstMemberTimeout is how long the others wait for the first member. Then all start, and the engine decides as in a failover.
const FirstMemberTimeout = 5 * time.Minute

// mayStart returns how many members may run now. Members of one database do not start all at once: see firstAlone, oneByOne and joining.
func (s *Situation) mayStart(live int32) int32 {
	switch {
	case s.Related() && len(s.Lost) > 0: // the volumes of removed members have older data
		return min(s.Wanted, live)
	case s.firstAlone(live):
		return min(s.Wanted, 1)
	case s.Consents():
		return s.oneByOne(live)
	case s.HasRoles() && live == 0 && s.Wanted > 0 && !s.knowsPrimary(): // any volume may have the latest data
		return max(s.Wanted, s.withVolume(math.MaxInt32))
	case s.HasRoles() && s.Cluster.Status.ObservedGeneration > 0: // the first members copy an empty database
		return s.joining(live)
	default:
		return s.Wanted
	}
}

// joining lets members that have a volume start at once, and others one by one: each copies all data of a member that serves clients. One
// that cannot start does not keep the next one from starting.
func (s *Situation) joining(live int32) int32 {
	newest, exists := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == live-1 })
	switch together := max(live, s.withVolume(s.Wanted)); {
	case live >= s.Wanted:
		return s.Wanted
	case exists && (newest.Ready || newest.Stuck):
		return max(together, live+1)
	default:
		return together
	}
}

// first is the ordinal of the member that starts before the others, because it is known to have all data: the last primary. It does not
// change while a member runs. If no member is known, all start at once, and the engine decides.
func (s *Situation) first() int32 {
	switch {
	case s.live() > 0:
		return s.from()
	case !s.HasRoles(), s.Wanted == 0:
		return 0
	}
	last, _ := s.lastPrimary()
	return last
}

// lastPrimary returns the member that is known to have been the primary last, if its volume exists. The claims and the agreement may be
// those of a previous cluster.
func (s *Situation) lastPrimary() (ordinal int32, known bool) {
	with := func(ordinal int32) (state.Volume, bool) {
		return state.First(s.Volumes, func(v state.Volume) bool {
			return v.Ordinal == ordinal && (v.Usable() || s.Strayed(v)) && !v.Terminating
		})
	}
	first, _ := with(0)
	last, known := state.Latest(s.Cluster.Name, s.Engine, s.Agreements, first.Contents, state.ExtentOf(s.StatefulSet))
	if _, exists := with(last); !known || !exists || !s.HasRoles() {
		return 0, false
	}
	return last, true
}

// StopsLast returns the member that stops after all others: the last primary. The lock is newer than the label of a pod. Without the
// engine, the record is all there is, and any order would do.
func (s *Situation) StopsLast() (ordinal int32, known bool) {
	if first, _ := s.firstVolume(); !s.EngineKnown() {
		return naming.Ordinal(s.Cluster.Name, first.Primary)
	}
	if ordinal, known = s.Latest(); known && s.HasRoles() {
		return ordinal, true
	}
	for _, labeled := range [][]state.Member{s.ReadyPrimaries(), s.Primaries()} {
		if len(labeled) == 1 {
			return labeled[0].Ordinal, true
		}
	}
	return 0, false
}

func (s *Situation) knowsPrimary() bool {
	_, known := s.lastPrimary()
	return known
}

// firstAlone reports whether the first member of an engine with roles runs alone, until there is a primary. The others do not wait for
// a first member that cannot start, or if another member may have been the primary last.
func (s *Situation) firstAlone(live int32) bool {
	ordinal := s.first()
	first, exists := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	last, known := s.lastPrimary()
	late := exists && s.firstMemberTimeLeft(first) <= 0
	return s.HasRoles() && live <= 1 && known && last == ordinal && !late && len(s.ReadyPrimaries()) == 0
}

// FirstMemberWait is the time until the others no longer wait for the first member; 0 if they do not wait.
func (s *Situation) FirstMemberWait() time.Duration {
	ordinal, live := s.first(), s.live()
	first, exists := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
	if !exists || !s.firstAlone(live) || ordinal == 0 && s.Wanted <= 1 {
		return 0
	}
	return s.firstMemberTimeLeft(first)
}

// firstMemberTimeLeft is how long the others wait for the first member. Its previous pod, which is terminating, may still stop. It may
// have been ready before, alone.
func (s *Situation) firstMemberTimeLeft(first state.Member) time.Duration {
	since := first.Down()
	if !first.Terminating && first.Created.After(since) {
		since = first.Created.Time
	}
	return FirstMemberTimeout - s.At.Sub(since)
}

// SplitBrainLasts reports whether two primaries were observed for longer than the lock of the engine lives. The condition records
// since when. It decides only about reports: the operator disturbs no member from the first moment.
func (s *Situation) SplitBrainLasts() bool {
	before := meta.FindStatusCondition(s.Cluster.Status.Conditions, dbv1.ConditionSplitBrainSuspected)
	if before == nil || before.Reason != dbv1.ReasonTwoPrimaries {
		return false
	}
	return before.Status == metav1.ConditionTrue || s.At.Sub(before.LastTransitionTime.Time) >= s.Lock()
}

// TakeOver is how long the members may need until one of them is the primary: first the lock of the previous one ends.
func (s *Situation) TakeOver() time.Duration { return 2 * s.Lock() }

// Electing is how long the members may still need to have a primary since one of them went down; 0 if they had enough time, or if none
// of them can start.
func (s *Situation) Electing() time.Duration {
	var left time.Duration
	able := false
	for _, m := range s.Members {
		able = able || !m.Stuck
		if !m.Serving(s.At) {
			left = max(left, s.TakeOver()-s.At.Sub(m.Down()))
		}
	}
	if !able {
		return 0
	}
	return left
}

// PrimaryOverdue returns the time until members that have no primary although some of them are ready have a problem; ok is false if they
// have one, or if no member is ready. An elected primary may be unable to report it: an admission policy or webhook may refuse its label.
// The condition Available records since when there is none.
func (s *Situation) PrimaryOverdue() (left time.Duration, ok bool) {
	available := meta.FindStatusCondition(s.Cluster.Status.Conditions, dbv1.ConditionAvailable)
	if !s.HasRoles() || s.Stopping() || len(s.ReadyPrimaries()) > 0 || available == nil || available.Reason != dbv1.ReasonNoPrimary {
		return 0, false
	}
	since, ready := available.LastTransitionTime.Time, s.firstReady()
	if ready.After(since) {
		since = ready
	}
	return max(0, s.TakeOver()-s.At.Sub(since), s.Electing()), !ready.IsZero()
}

// firstReady is since when a member is ready; zero if none is.
func (s *Situation) firstReady() time.Time {
	var ready time.Time
	for _, m := range s.Members {
		if m.Serving(s.At) && (ready.IsZero() || m.ReadySince.Time.Before(ready)) {
			ready = m.ReadySince.Time
		}
	}
	return ready
}

// Lock is how long the lock of a primary lives. While the action configure has not put a new value in force, or has failed, the longer
// one counts: the members may use either.
func (s *Situation) Lock() time.Duration {
	seconds := engine.LockSeconds(s.Engine.Spec, s.Cluster.Spec.Parameters)
	if before := s.Configured(); before != nil && engine.HasLockParameter(s.Engine) {
		seconds = max(seconds, before.LockSeconds)
	}
	return time.Duration(seconds) * time.Second
}
