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

// killed is the exit code of a process that was killed by SIGKILL.
const killed = 137

// shutdownHook stops the members in order and records their exit codes. The operator adds its finalizer to a pod before it stops
// the member, writes the exit code into the status, and then removes the finalizer. A crash between two of these steps loses
// nothing.
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
		view = failed("Check its volume, then set spec.deletion.hookFailurePolicy to Continue", "the members did not shut down cleanly: %s",
			strings.Join(bad, "; "))
	case next.Waits():
		view = underway("%s", next.Message)
		view.operations = next.Operations
		soonest = situation.Sooner(soonest, next.RequeueAfter)
	}
	view.stopped, view.requeueAfter = ends, soonest
	return view
}

func unclean(cluster *dbv1.DatabaseCluster, e dbv1.StoppedMember) string {
	text := fmt.Sprintf("the database in pod %s exited with code %d", e.Pod, *e.ExitCode)
	if grace := cluster.Spec.Pod.TerminationGracePeriodSeconds; *e.ExitCode == killed && grace != nil {
		text += fmt.Sprintf(": it was killed, because it exceeded spec.pod.terminationGracePeriodSeconds (%d s) or ran out of memory", *grace)
	}
	return text
}

// endings describes the ends of members, none of which failed, and the members that still run because no controller stops them.
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
		text += fmt.Sprintf(". The exit code of %s is unknown: the pod was deleted before the operator stopped it, or never started",
			strings.Join(names, ", "))
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

// silence reports whether no end of a member's database will be observed, or the time until that is certain.
func silence(s *situation.Situation, m state.Member) (left time.Duration, lost bool) {
	if !m.HasFinalizer {
		return 0, false
	}
	return overdue(s, m)
}

// overdue reports whether a terminating member will not report its exit code, or the time until that is certain.
func overdue(s *situation.Situation, m state.Member) (left time.Duration, lost bool) {
	switch {
	case !m.Terminating:
		return 0, false
	case m.End.Reached:
		return 0, !endKnown(m)
	}
	left = m.StopBy.Add(deadline(s)).Sub(s.At)
	return max(left, 0), left <= 0
}

// record returns the recorded ends of members, updated with the observed ones.
func record(s *situation.Situation, before []dbv1.StoppedMember) []dbv1.StoppedMember {
	ends := slices.Clone(before)
	note := func(s dbv1.StoppedMember) {
		ends = slices.DeleteFunc(ends, func(e dbv1.StoppedMember) bool { return e.Pod == s.Pod })
		ends = append(ends, s)
	}
	for _, pod := range missing(s, ends) {
		note(dbv1.StoppedMember{Pod: pod})
	}
	for _, m := range s.Members {
		if _, lost := silence(s, m); m.HasFinalizer && (endKnown(m) || lost && continuesOnFailure(s)) {
			note(endOf(m))
		}
	}
	slices.SortFunc(ends, func(a, b dbv1.StoppedMember) int { return strings.Compare(b.Pod, a.Pod) })
	return ends
}

// missing returns the pods of members that ended before the operator stopped them. If the cluster never created members, there are
// none.
func missing(s *situation.Situation, recorded []dbv1.StoppedMember) []string {
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

// endKnown reports whether the exit code of a member's database is known, or the database never ran.
func endKnown(m state.Member) bool { return m.End.Known || m.End.Never }

func endOf(m state.Member) dbv1.StoppedMember {
	if !m.End.Known {
		return dbv1.StoppedMember{Pod: m.Name}
	}
	return dbv1.StoppedMember{Pod: m.Name, ExitCode: &m.End.Code}
}

// records reports whether the operator records the ends of members.
func records(s *situation.Situation) bool {
	isShutdown := func(h dbv1.DeletionHook) bool { return h.Type == dbv1.HookShutdown }
	return s.Deleting() && !s.Skips() && s.HasFinalizer() &&
		slices.ContainsFunc(s.Cluster.Spec.Deletion.Hooks, isShutdown)
}

// Releases remove our finalizer from the pods that no longer need it: the status contains their exit codes, and no lost volume keeps them
// from starting.
func Releases(s *situation.Situation) operation.List {
	var all []operation.Target
	for _, m := range s.Members {
		if m.HasFinalizer && (!records(s) || written(s, m)) && !s.Holds(m) {
			all = append(all, operation.PodOf(m))
		}
	}
	for _, b := range s.Bystanders {
		if b.HasFinalizer {
			all = append(all, operation.Target{Kind: operation.Core("Pod"), Name: b.Name, UID: b.UID})
		}
	}
	return operation.Release(all)
}

// written reports whether the status contains the end of a member.
func written(s *situation.Situation, m state.Member) bool {
	_, lost := silence(s, m)
	if !endKnown(m) && (!lost || !continuesOnFailure(s)) {
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
