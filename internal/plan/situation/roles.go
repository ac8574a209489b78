/*
SPDX-License-Identifier: Apache-2.0
*/

package situation

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/engine"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
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

// Configuration is a hash of what the action configure should put in force; "" for an engine without it.
func (s *Situation) Configuration() string {
	if !engine.Configures(s.Engine) {
		return ""
	}
	return resources.Configuration(s.Cluster, s.References)
}

// FirstMemberPatience is how long the others wait for member 0.
const FirstMemberPatience = 5 * time.Minute

// MayStart returns how many members may run now. Members of one database do not start all at once: see firstAlone and oneByOne.
func (s *Situation) MayStart(live int32) int32 {
	switch {
	case s.HasRoles():
		return s.firstAlone(live)
	case s.Consents():
		return s.oneByOne(live)
	default:
		return s.Wanted
	}
}

// firstAlone lets member 0 start alone until there is a primary, because it has stopped last and has all data. It does not wait for
// a member 0 that cannot start, or whose data is lost.
func (s *Situation) firstAlone(live int32) int32 {
	first, exists := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == 0 })
	lost := len(s.Own) > 0 && !s.hasVolume(0)
	switch {
	case live > 1, lost, len(s.ReadyPrimaries()) > 0, exists && first.Age(s.At) >= FirstMemberPatience:
		return s.Wanted
	default:
		return min(s.Wanted, 1)
	}
}

// FirstMemberWait is the time until the others no longer wait for member 0; 0 if they do not wait.
func (s *Situation) FirstMemberWait() time.Duration {
	first, exists := state.First(s.Members, func(m state.Member) bool { return m.Ordinal == 0 })
	live, _ := s.Replicas()
	if !s.HasRoles() || !exists || s.MayStart(live) >= s.Wanted {
		return 0
	}
	return FirstMemberPatience - first.Age(s.At)
}

// oneByOne lets members with a volume start at once, and others one by one: each changes the list of members.
func (s *Situation) oneByOne(live int32) int32 {
	may := int32(1)
	for _, v := range s.Own {
		may = max(may, v.Ordinal+1)
	}
	if live >= may && s.Ready() >= live {
		may = live + 1
	}
	return min(s.Wanted, may)
}

func (s *Situation) hasVolume(ordinal int32) bool {
	_, has := state.First(s.Own, func(v state.Volume) bool { return v.Ordinal == ordinal && !v.Terminating })
	return has
}

// SplitBrainLasts reports whether two primaries were observed for longer than the lock of the engine lives. The condition records
// since when. It decides only about reports: the operator disturbs no member from the first moment.
func (s *Situation) SplitBrainLasts() bool {
	before := meta.FindStatusCondition(s.Cluster.Status.Conditions, dbv1.ConditionSplitBrainSuspected)
	if before == nil || before.Reason != dbv1.ReasonTwoPrimaries {
		return false
	}
	return before.Status == metav1.ConditionTrue || s.At.Sub(before.LastTransitionTime.Time) >= s.lock()
}

func (s *Situation) lock() time.Duration {
	return time.Duration(s.Engine.Spec.Roles.LockSeconds) * time.Second
}
