/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Release takes the operator's finalizer off a pod.
type Release struct {
	Pod string
	UID types.UID
}

func (r Release) String() string { return "release pod " + r.Pod }

// killed is the exit code of a process that was killed.
const killed = 137

// shutdownHook is the ordered stop, recorded. A member's pod is held by our finalizer before it is stopped, its end
// goes into the status, and only then the pod goes. A crash between any two of these loses nothing.
func shutdownHook(cluster *dbv1.DatabaseCluster, observed state.Observed, before dbv1.HookStatus) hookView {
	ends := record(cluster, observed, before.Stopped)
	var bad []string
	for _, s := range ends {
		if s.ExitCode != nil && *s.ExitCode != 0 {
			bad = append(bad, unclean(cluster, s))
		}
	}
	var soonest time.Duration
	for _, m := range observed.Members {
		left, lost := silence(cluster, observed, m)
		if lost {
			bad = append(bad, fmt.Sprintf("pod %s has not told how its database ended", m.Name))
		}
		if left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	view := succeeded("%s", endings(ends, len(observed.Members)))
	var next Plan
	switch {
	case len(bad) > 0:
		view = failed("Look at its volume before you go on; to do so set spec.deletion.onFailure to Continue", "the members did not shut down cleanly: %s", strings.Join(bad, "; "))
	case stop(&next, cluster, observed):
		view = underway("%s", next.Why)
		view.step = next.Step
	}
	view.stopped, view.again = ends, soonest
	return view
}

func unclean(cluster *dbv1.DatabaseCluster, s dbv1.StoppedMember) string {
	text := fmt.Sprintf("the database of pod %s ended with exit code %d", s.Pod, *s.ExitCode)
	if grace := cluster.Spec.TerminationGracePeriodSeconds; *s.ExitCode == killed && grace != nil {
		text += fmt.Sprintf(": it was killed, as when it does not stop within spec.terminationGracePeriodSeconds, %d s, or has no memory left", *grace)
	}
	return text
}

// endings say how all ended of which none ended badly, when so many are left that nobody stops.
func endings(all []dbv1.StoppedMember, left int) string {
	switch {
	case left > 0:
		return fmt.Sprintf("%d members are left running without the StatefulSet that was theirs", left)
	case len(all) == 0:
		return "no member was running"
	}
	names := unknown(all)
	text := fmt.Sprintf("%d of %d members ended with exit code 0", len(all)-len(names), len(all))
	if len(names) > 0 {
		text += fmt.Sprintf("; how %s ended is not known: the pod was gone before its turn, or had never started", strings.Join(names, ", "))
	}
	return text
}

func unknown(all []dbv1.StoppedMember) []string {
	var names []string
	for _, s := range all {
		if s.ExitCode == nil {
			names = append(names, s.Pod)
		}
	}
	return names
}

// silence tells whether nobody will say how the database of a member ended, or how long that has to be waited for.
func silence(cluster *dbv1.DatabaseCluster, observed state.Observed, m state.Member) (left time.Duration, lost bool) {
	if !m.Held {
		return 0, false
	}
	return overdue(cluster, observed, m)
}

// overdue tells whether a member that stops will not say how it ended, or how long that has to be waited for.
func overdue(cluster *dbv1.DatabaseCluster, observed state.Observed, m state.Member) (left time.Duration, lost bool) {
	switch {
	case !m.Stopping:
		return 0, false
	case m.End.Reached:
		return 0, !settledEnd(m)
	}
	left = m.StopBy.Add(deadline(cluster)).Sub(observed.At)
	return max(left, 0), left <= 0
}

// record is what has been recorded of how members ended, with what can be seen now.
func record(cluster *dbv1.DatabaseCluster, observed state.Observed, before []dbv1.StoppedMember) []dbv1.StoppedMember {
	ends := slices.Clone(before)
	note := func(s dbv1.StoppedMember) {
		ends = slices.DeleteFunc(ends, func(e dbv1.StoppedMember) bool { return e.Pod == s.Pod })
		ends = append(ends, s)
	}
	for _, pod := range gone(cluster, observed, ends) {
		note(dbv1.StoppedMember{Pod: pod})
	}
	for _, m := range observed.Members {
		if _, lost := silence(cluster, observed, m); m.Held && (settledEnd(m) || lost && passesOn(cluster)) {
			note(endOf(m))
		}
	}
	slices.SortFunc(ends, func(a, b dbv1.StoppedMember) int { return strings.Compare(b.Pod, a.Pod) })
	return ends
}

// gone are the pods of members that ended before their turn came. A cluster whose members were never made has none.
func gone(cluster *dbv1.DatabaseCluster, observed state.Observed, recorded []dbv1.StoppedMember) []string {
	if observed.StatefulSet == nil && cluster.Status.UpdateRevision == "" {
		return nil
	}
	var pods []string
	for ordinal := range target(cluster) {
		pod := naming.Member(cluster.Name, ordinal)
		there := slices.ContainsFunc(observed.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
		known := slices.ContainsFunc(recorded, func(s dbv1.StoppedMember) bool { return s.Pod == pod })
		if !there && !known {
			pods = append(pods, pod)
		}
	}
	return pods
}

// settledEnd tells whether it is known how the database of a member ended, or that it never ran.
func settledEnd(m state.Member) bool { return m.End.Known || m.End.Never }

func endOf(m state.Member) dbv1.StoppedMember {
	if !m.End.Known {
		return dbv1.StoppedMember{Pod: m.Name}
	}
	return dbv1.StoppedMember{Pod: m.Name, ExitCode: &m.End.Code}
}

func passesOn(cluster *dbv1.DatabaseCluster) bool {
	return cluster.Spec.Deletion.OnFailure == dbv1.HookFailureContinue
}

// records tells whether the ends of members are recorded.
func records(cluster *dbv1.DatabaseCluster) bool {
	isShutdown := func(h dbv1.DeletionHook) bool { return h.Type == dbv1.HookShutdown }
	return cluster.DeletionTimestamp != nil && !skips(cluster) && slices.Contains(cluster.Finalizers, dbv1.Finalizer) &&
		slices.ContainsFunc(cluster.Spec.Deletion.Hooks, isShutdown)
}

// releases are the pods that our finalizer holds for no reason, or no longer: how they ended stands in the status.
func releases(cluster *dbv1.DatabaseCluster, observed state.Observed) []Release {
	var all []Release
	for _, m := range observed.Members {
		if m.Held && (!records(cluster) || written(cluster, observed, m)) {
			all = append(all, Release{m.Name, m.UID})
		}
	}
	for _, b := range observed.Bystanders {
		if b.Held {
			all = append(all, Release{b.Name, b.UID})
		}
	}
	return all
}

// written tells whether the status says how a member ended.
func written(cluster *dbv1.DatabaseCluster, observed state.Observed, m state.Member) bool {
	_, lost := silence(cluster, observed, m)
	if !settledEnd(m) && (!lost || !passesOn(cluster)) {
		return false
	}
	for _, hook := range cluster.Spec.Deletion.Hooks {
		for _, s := range reported(cluster, hook.Name).Stopped {
			if hook.Type == dbv1.HookShutdown && sameEnd(s, endOf(m)) {
				return true
			}
		}
	}
	return false
}

func sameEnd(a, b dbv1.StoppedMember) bool {
	if a.ExitCode == nil || b.ExitCode == nil {
		return a.Pod == b.Pod && a.ExitCode == b.ExitCode
	}
	return a.Pod == b.Pod && *a.ExitCode == *b.ExitCode
}

// stop stops the members one by one, the highest ordinal first. Where their ends are recorded each is held before.
func stop(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	return stopFor(p, cluster, observed, dbv1.ReasonStopping)
}

func stopFor(p *Plan, cluster *dbv1.DatabaseCluster, observed state.Observed, reason string) bool {
	if !lower(p, observed, 0, reason) && !stopOrphans(p, observed) {
		return false
	}
	if m, found := stopped(p.Step, observed); found && records(cluster) && !m.Held && !m.Stopping {
		p.Step, p.Why = HoldMember{m}, fmt.Sprintf("holding pod %s, so that its end can be read when it stops", m.Name)
	}
	return true
}

// stopped is the member that a step would stop.
func stopped(step Step, observed state.Observed) (state.Member, bool) {
	scale, scales := step.(Scale)
	one, stops := step.(StopMember)
	i := slices.IndexFunc(observed.Members, func(m state.Member) bool {
		return scales && m.Ordinal == scale.To || stops && m.Name == one.Member.Name
	})
	if i < 0 {
		return state.Member{}, false
	}
	return observed.Members[i], true
}
