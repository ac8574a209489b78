/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/disturb"
	"github.com/dbcluster/databasecluster-operator/internal/plan/members"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/restore"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// phases of a cluster that is not being deleted: its objects, the volumes of a previous cluster or a backup, the re-creation of the
// StatefulSet, scaling in, and restarts of members, one at a time. A drain ends when the primary has left its node, so that comes before
// all changes of the members: a member that leaves may need longer to stop than a drain waits.
var phases = []phase.Phase{
	{Name: "consent to a loss", Decide: members.StartEmpty},
	{Name: "lost volumes", Decide: members.Hold},
	{Name: "objects", Decide: members.Applying},
	{Name: "previous cluster", Decide: members.PreviousCluster},
	{Name: "adoption", Decide: members.AwaitAdoption},
	{Name: "restore", Decide: restore.Restoring},
	{Name: "StatefulSet", Decide: members.Absent},
	{Name: "volumes of another size or class", Decide: members.Recreate},
	{Name: "two primaries", Decide: members.AwaitOnePrimary},
	{Name: "ended hand-over", Decide: members.HandedOver},
	{Name: "drain", Decide: disturb.Evacuate},
	{Name: "scale in", Decide: members.ScaleIn},
	{Name: "references", Decide: members.Blocked},
	{Name: "configuration of another client", Decide: members.Reconfigure},
	{Name: "configuration", Decide: members.Configure},
	{Name: "rollout", Decide: members.RollOut},
	{Name: "requested rebuild", Decide: members.Rebuild},
	{Name: "start", Decide: members.Starting},
	{Name: "requested hand-over", Decide: members.HandOver},
	{Name: "scale in that waits", Decide: members.AwaitScaleIn},
}

func upToDate(s *situation.Situation) phase.Outcome {
	outcome := phase.Wait(dbv1.ReasonUpToDate, "the cluster matches its spec")
	if s.Cluster.Spec.Paused {
		return outcome
	}
	removals := slices.Concat(disturb.Unasked(s), members.Leftovers(s), s.Leftovers)
	outcome.Operations = append(operation.Deletion(removals...), members.Recorded(s)...)
	return outcome
}

// stalls are problems that the user must solve although the cluster may run. The first one counts; those of subjects come between these.
var stalls, lateStalls = []stall{
	members.NameConflict,
	members.VolumeConflict,
	members.VolumeLost,
	members.Unusable,
	restore.HalfRestored,
	restore.Stalled,
}, []stall{
	members.TwoPrimaries,
	members.ConfigureFailed,
}

type stall func(*situation.Situation) *situation.Stall

func stalled(s *situation.Situation, d decisions) *situation.Stall {
	ofSubjects := func(*situation.Situation) *situation.Stall { return d.stalled() }
	for _, stall := range slices.Concat(stalls, []stall{ofSubjects}, lateStalls) {
		if found := stall(s); found != nil {
			return found
		}
	}
	return nil
}

// pending reports whether the objects do not match the spec yet, even after the writes of this plan: the number of members
// differs, or a change of the StatefulSet is blocked.
func pending(s *situation.Situation) bool {
	tooMany := slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Ordinal >= s.Wanted })
	return tooMany || s.Switches() || awaitsOthers(s) ||
		!s.Complete() || s.TemplateBlocked() || s.StatefulSetTerminating() || s.OtherClaims()
}

// awaitsOthers reports whether the objects of a previous cluster or a restore come before the members.
func awaitsOthers(s *situation.Situation) bool {
	return s.Inherits() || s.Restoration != nil || members.AwaitsAgreements(s) || slices.ContainsFunc(s.Foreign, state.Ref.IsOfPreviousCluster)
}

const (
	// lostRequeue is the interval for checking whether Kubernetes has replaced a lost volume by an empty one.
	lostRequeue = time.Second
	// terminatingRequeue is the interval for checking whether the objects of a previous cluster are deleted.
	terminatingRequeue = 2 * time.Second
)

// requeueAfter returns the time after which decisions or reports change without an event, in any phase.
func requeueAfter(s *situation.Situation) time.Duration {
	soonest := restore.RequeueAfter(s)
	within := func(needed bool, after time.Duration) {
		if needed {
			soonest = situation.Sooner(soonest, after)
		}
	}
	within(slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Broken(s.At) }), s.ConvergesIn(state.Steadily))
	within(s.ScheduledIn() > 0, s.ScheduledIn())
	within(s.FirstMemberWait() > 0, s.FirstMemberWait())
	within(s.Consents() && s.LeavingIn() > 0, s.LeavingIn())
	left, overdue := s.PrimaryOverdue()
	within(overdue && left > 0, left)
	within(len(s.Foreign) > 0, situation.MissingRequeue)
	within(slices.ContainsFunc(s.Foreign, state.Ref.IsOfPreviousCluster), terminatingRequeue)
	within(slices.ContainsFunc(s.Lost, s.Replaceable), lostRequeue)
	within(s.Inherits() && s.PreviousUser != "", situation.UsersRequeue)
	within(s.Unusable != nil, situation.MissingRequeue)
	return soonest
}
