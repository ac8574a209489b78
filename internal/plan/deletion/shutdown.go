/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"fmt"
	"slices"
	"strings"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// killed is the exit code of a process that was killed.
const killed = 137

// shutdownHook is the ordered stop, recorded. A member's pod is held by our finalizer before it is stopped, its end
// goes into the status, and only then the pod goes. A crash between any two of these loses nothing.
func shutdownHook(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	ends := record(s, reported(s, hook.Name).Stopped)
	var bad []string
	for _, e := range ends {
		if e.ExitCode != nil && *e.ExitCode != 0 {
			bad = append(bad, unclean(s.Cluster, e))
		}
	}
	var soonest time.Duration
	for _, m := range s.Members {
		left, lost := silence(s, m)
		if lost {
			bad = append(bad, fmt.Sprintf("the exit code of the database in pod %s is unknown", m.Name))
		}
		soonest = situation.Sooner(soonest, left)
	}
	view := succeeded("%s", endings(ends, len(s.Members)))
	next := stop(s)
	switch {
	case len(bad) > 0:
		view = failed("Check its volume, then set spec.deletion.onFailure to Continue", "the members did not shut down cleanly: %s", strings.Join(bad, "; "))
	case next.Waits():
		view = underway("%s", next.Message)
		view.operations = next.Operations
	}
	view.stopped, view.again = ends, soonest
	return view
}

func unclean(cluster *dbv1.DatabaseCluster, e dbv1.StoppedMember) string {
	text := fmt.Sprintf("the database in pod %s exited with code %d", e.Pod, *e.ExitCode)
	if grace := cluster.Spec.Pod.TerminationGracePeriodSeconds; *e.ExitCode == killed && grace != nil {
		text += fmt.Sprintf(": it was killed, because it exceeded spec.pod.terminationGracePeriodSeconds (%d s) or ran out of memory", *grace)
	}
	return text
}

// endings say how all ended of which none ended badly, when so many are left that nobody stops.
func endings(all []dbv1.StoppedMember, left int) string {
	switch {
	case left > 0:
		return fmt.Sprintf("%d members still run without their StatefulSet", left)
	case len(all) == 0:
		return "no member was running"
	}
	names := unknown(all)
	text := fmt.Sprintf("%d of %d members exited with code 0", len(all)-len(names), len(all))
	if len(names) > 0 {
		text += fmt.Sprintf("; the exit code of %s is unknown: the pod was deleted before the operator stopped it, or never started", strings.Join(names, ", "))
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
func silence(s *situation.Situation, m state.Member) (left time.Duration, lost bool) {
	if !m.HasFinalizer {
		return 0, false
	}
	return overdue(s, m)
}

// overdue tells whether a member that stops will not say how it ended, or how long that has to be waited for.
func overdue(s *situation.Situation, m state.Member) (left time.Duration, lost bool) {
	switch {
	case !m.Terminating:
		return 0, false
	case m.End.Reached:
		return 0, !settledEnd(m)
	}
	left = m.StopBy.Add(deadline(s)).Sub(s.At)
	return max(left, 0), left <= 0
}

// record is what has been recorded of how members ended, with what can be seen now.
func record(s *situation.Situation, before []dbv1.StoppedMember) []dbv1.StoppedMember {
	ends := slices.Clone(before)
	note := func(s dbv1.StoppedMember) {
		ends = slices.DeleteFunc(ends, func(e dbv1.StoppedMember) bool { return e.Pod == s.Pod })
		ends = append(ends, s)
	}
	for _, pod := range gone(s, ends) {
		note(dbv1.StoppedMember{Pod: pod})
	}
	for _, m := range s.Members {
		if _, lost := silence(s, m); m.HasFinalizer && (settledEnd(m) || lost && passesOn(s)) {
			note(endOf(m))
		}
	}
	slices.SortFunc(ends, func(a, b dbv1.StoppedMember) int { return strings.Compare(b.Pod, a.Pod) })
	return ends
}

// gone are the pods of members that ended before their turn came. A cluster whose members were never made has none.
func gone(s *situation.Situation, recorded []dbv1.StoppedMember) []string {
	if s.StatefulSet == nil && s.Cluster.Status.UpdateRevision == "" {
		return nil
	}
	var pods []string
	for ordinal := range s.Wanted {
		pod := naming.Member(s.Cluster.Name, ordinal)
		there := slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Ordinal == ordinal })
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

// records tells whether the ends of members are recorded.
func records(s *situation.Situation) bool {
	isShutdown := func(h dbv1.DeletionHook) bool { return h.Type == dbv1.HookShutdown }
	return s.Deleting() && !skips(s) && s.HasFinalizer() &&
		slices.ContainsFunc(s.Cluster.Spec.Deletion.Hooks, isShutdown)
}

// Releases are the pods that our finalizer holds for no reason, or no longer: how they ended stands in the status.
func Releases(s *situation.Situation) []operation.Pod {
	var all []operation.Pod
	for _, m := range s.Members {
		if m.HasFinalizer && (!records(s) || written(s, m)) {
			all = append(all, operation.Pod{Name: m.Name, UID: m.UID})
		}
	}
	for _, b := range s.Bystanders {
		if b.HasFinalizer {
			all = append(all, operation.Pod{Name: b.Name, UID: b.UID})
		}
	}
	return all
}

// written tells whether the status says how a member ended.
func written(s *situation.Situation, m state.Member) bool {
	_, lost := silence(s, m)
	if !settledEnd(m) && (!lost || !passesOn(s)) {
		return false
	}
	for _, hook := range s.Cluster.Spec.Deletion.Hooks {
		for _, e := range reported(s, hook.Name).Stopped {
			if hook.Type == dbv1.HookShutdown && sameEnd(e, endOf(m)) {
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
