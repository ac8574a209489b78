/*
SPDX-License-Identifier: Apache-2.0
*/

package members

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// RollOut restarts members that do not run the current template, one at a time.
func RollOut(s *situation.Situation) phase.Outcome {
	outdated := s.Outdated()
	if len(outdated) == 0 {
		return phase.Over
	}
	switch update := s.Cluster.Spec.UpdateStrategy; {
	case update.Paused:
		return phase.Wait(dbv1.ReasonRolloutPaused, counted(outdated)+"; spec.updateStrategy.paused is true")
	case update.Type == dbv1.UpdateOnDelete:
		return phase.Wait(dbv1.ReasonWaitingForUser, counted(outdated)+"; spec.updateStrategy.type is OnDelete: delete a pod to update it")
	}
	rolls := rollout{s, outdated}
	outcome := rolls.next()
	for _, m := range outdated {
		if !m.Serving(s.At) {
			outcome.RequeueAfter = situation.Sooner(outcome.RequeueAfter, rolls.recovering(m))
		}
	}
	outcome.RequeueAfter = situation.Sooner(outcome.RequeueAfter,
		situation.Sooner(s.ConvergesIn(minReady(s.Cluster)), timeUntilLost(s.Observed)))
	return outcome
}

type rollout struct {
	*situation.Situation
	outdated []state.Member
}

// next restarts members first that are down already: that costs no availability, and a corrected template reaches members that the
// previous one broke. Then it restarts the highest ordinal.
func (r rollout) next() phase.Outcome {
	if m, found := r.free(); found {
		return r.restart(m)
	}
	if waits := r.unsteady(); len(waits) >= budget(r.Situation) {
		return r.do("waiting for " + waits[0])
	}
	if _, found := r.Primary(); r.HasRoles() && !found {
		return r.do("waiting for a primary")
	}
	if m, found := r.highest(); found {
		return r.disturb(m)
	}
	return r.do("waiting for a pod to terminate")
}

func (r rollout) do(what string, all ...operation.Operation) phase.Outcome {
	return phase.Do(dbv1.ReasonRollingOut, counted(r.outdated)+"; "+what, all...)
}

// highest returns the serving outdated member with the highest ordinal. A member whose last resize is stuck comes first, because
// the current resources may fit its node. The primary comes last, so that a rollout has one hand-over.
func (r rollout) highest() (highest state.Member, found bool) {
	last := -1
	for _, m := range r.outdated {
		if rank := r.rank(m); m.Serving(r.At) && rank >= last {
			highest, found, last = m, true, rank
		}
	}
	return highest, found
}

// rank orders the members of a rollout: those with a higher rank are disturbed first.
func (r rollout) rank(m state.Member) int {
	switch {
	case r.HasRoles() && r.RoleOf(m) != dbv1.RoleReplica:
		return 0
	case r.Resizing(m) == "":
		return 1
	default:
		return 2
	}
}

// free returns an outdated member that is down and may restart without waiting for the others. Shortly after a restart, it is
// unknown whether the template works. Until then a member that may recover by itself is not restarted, or a bad template would
// break a second member.
func (r rollout) free() (state.Member, bool) {
	for _, m := range slices.Backward(r.outdated) {
		if m.Serving(r.At) || m.Terminating || r.recovering(m) > 0 {
			continue
		}
		if m.Stuck || r.inFlight() < budget(r.Situation) || lost(r.Observed) {
			return m, true
		}
	}
	return state.Member{}, false
}

// recovering is how long a primary that is down may still become ready before another one is elected. A restart would only take longer.
func (r rollout) recovering(m state.Member) time.Duration {
	if r.RoleOf(m) != dbv1.RolePrimary || m.Stuck {
		return 0
	}
	return max(0, r.TakeOver()-r.At.Sub(m.ReadySince.Time))
}

func (r rollout) isOutdated(m state.Member) bool {
	return slices.ContainsFunc(r.outdated, func(o state.Member) bool { return o.Name == m.Name })
}

// inFlight returns how many members run the current template and have not been ready for long enough.
func (r rollout) inFlight() int {
	replicas, _ := r.Replicas()
	flying := max(0, int(replicas)-len(r.Members))
	for _, m := range r.Members {
		if m.Terminating || !r.isOutdated(m) && !m.Steady(r.At, minReady(r.Cluster)) {
			flying++
		}
	}
	return flying
}

// unsteady returns the causes for which the restart of a serving member waits.
func (r rollout) unsteady() []string {
	var waits []string
	for _, m := range r.Members {
		switch {
		case m.Broken(r.At):
			waits = append(waits, fmt.Sprintf("pod %s, which is failing: %s", m.Name, m.Problem))
		case !m.Steady(r.At, minReady(r.Cluster)):
			waits = append(waits, fmt.Sprintf("pod %s to stay ready", m.Name))
		case r.Resizing(m) != "" && !r.isOutdated(m):
			waits = append(waits, fmt.Sprintf("the kubelet to resize pod %s (%s)", m.Name, r.Resizing(m)))
		}
	}
	replicas, _ := r.Replicas()
	for range int(replicas) - len(r.Members) {
		waits = append(waits, "a missing pod")
	}
	for range r.Peers() - replicas {
		waits = append(waits, "a member that does not run, but may be in the membership")
	}
	return waits
}

func (r rollout) restart(m state.Member) phase.Outcome {
	return r.do("restarting pod "+m.Name, operation.Stop(operation.Work{
		Is: operation.Disturbance, Text: "restart ", Event: operation.Normal("MemberRestarted", "Restart", ""),
	}, m))
}

// disturb resizes a serving member in place, if only its resources differ. Otherwise it restarts the member, which hands over before.
func (r rollout) disturb(m state.Member) phase.Outcome {
	if !r.Resizable(m) {
		if outcome := disturb.HandOver(r.Situation, m, disturb.Refuges(r.Situation)); outcome.Waits() {
			outcome.Message = counted(r.outdated) + "; " + outcome.Message
			return outcome
		}
		return r.restart(m)
	}
	revision, _ := r.Revision()
	return r.do(fmt.Sprintf("resizing pod %s", m.Name), operation.Resize{
		Work: operation.Work{Is: operation.Disturbance, Text: "resize " + m.Name, Event: operation.Normal("MemberResized", "Resize", "")},
		Pod:  operation.PodOf(m), Resources: r.Cluster.Spec.Resources, Revision: revision,
	})
}

// budget returns how many members may be down while the operator disturbs another one: of members with one database, never a majority.
func budget(s *situation.Situation) int {
	asked := max(1, s.Cluster.Spec.UpdateStrategy.MaxUnavailable)
	if s.Related() {
		asked = min(asked, spare(s.Peers()))
	}
	return int(asked)
}

// spare is how many members of one database may be down: a minority, or one of two.
func spare(members int32) int32 { return max(1, (members-1)/2) }

// minReady returns how long a member has to be ready before the next restart.
func minReady(cluster *dbv1.DatabaseCluster) time.Duration {
	if seconds := cluster.Spec.UpdateStrategy.MinReadySeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return state.Steadily
}

// lostDelay is how long no member has to serve before the operator restarts members that may recover by themselves. A member
// that restarts alone may need the others to become ready.
const lostDelay = 5 * time.Minute

// lost reports whether no member has served for so long that a restart can make nothing worse.
func lost(observed state.Observed) bool {
	return observed.Ready() == 0 && timeUntilLost(observed) <= 0
}

// timeUntilLost returns the time until the cluster counts as lost; 0 if it does, or while a member serves.
func timeUntilLost(observed state.Observed) time.Duration {
	var last time.Time
	for _, m := range observed.Members {
		if m.Serving(observed.At) {
			return 0
		}
		for _, changed := range []time.Time{m.Created.Time, m.ReadySince.Time} {
			if changed.After(last) {
				last = changed
			}
		}
	}
	return max(0, last.Add(lostDelay).Sub(observed.At))
}

func counted(outdated []state.Member) string {
	if len(outdated) == 1 {
		return "1 member is outdated"
	}
	return fmt.Sprintf("%d members are outdated", len(outdated))
}
