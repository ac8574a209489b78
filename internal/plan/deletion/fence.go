/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// The operator deletes a volume only if a backup contains the last write to it. So the members stop before the final backup, which
// records that stop as its fence. No state records that a backup sufficed: every pass compares the fence of the DatabaseBackup with
// the fence of the cluster, until the last claim is deleted.

// readsLatest is why a final backup may refuse to stop members, for messages.
const readsLatest = "the members stop before the backup, and it reads the volume of one that is known to have every acknowledged write"

// fence stops the members before their final backup; fenced is true if no member can run any more.
func fence(s *situation.Situation, hook dbv1.DeletionHook) (view hookView, fenced bool) {
	if view, refused := refusal(s, hook); refused {
		return view, false
	}
	pod, left := unstoppable(s)
	next := stopFor(s, dbv1.ReasonHookRunning)
	unsettled, why, waits := s.Unsettled()
	switch user := s.Unfenced(); {
	case pod != "":
		view = failed("Recover the node of the pod, or delete the Node object if the node is lost",
			"deletion hook %q failed: pod %s did not stop within spec.deletion.hookDeadlineSeconds (%d s) after its grace period",
			hook.Name, pod, s.Cluster.Spec.Deletion.HookDeadlineSeconds)
	case s.Unready() != "":
		return awaitVoter(s, hook, s.Unready()), false
	case waits:
		view = underway("deletion hook %q stops all members before the backup: %s", hook.Name, why)
		left = situation.Sooner(left, unsettled)
	case next.Waits():
		view = underway("deletion hook %q stops all members before the backup, because spec.deletion.volumes is Delete: %s", hook.Name,
			next.Message)
		view.operations = next.Operations
	case user != "":
		view = failed(fmt.Sprintf("Delete %s, or set spec.deletion.volumes to Retain", user),
			"deletion hook %q cannot start: %s may write to the volumes and is not controlled by this cluster", hook.Name, user)
		view.reason = dbv1.ReasonNameConflict
	case s.StatefulSetTerminating():
		view = underway("deletion hook %q waits until StatefulSet %s is deleted, because it may create pods until then", hook.Name,
			s.StatefulSet.Name)
	case s.Fence() == "":
		view = underway("deletion hook %q waits until the StatefulSet controller has observed the scale to 0 replicas", hook.Name)
	default:
		return hookView{}, true
	}
	view.requeueAfter, view.stops = situation.Sooner(left, next.RequeueAfter), true
	return view, false
}

// refusal is why no member stops for a backup: afterward, none would be known to have every acknowledged write.
func refusal(s *situation.Situation, hook dbv1.DeletionHook) (view hookView, refused bool) {
	switch {
	case s.Unprobed() != "":
		view = failed("Set spec.deletion.volumes to Retain: the hook then backs up a member that runs, and all volumes stay",
			"deletion hook %q cannot start: the database in pod %s has no readiness probe, so it is unknown whether it has every acknowledged write",
			hook.Name, s.Unprobed())
	case s.Unlocked() && len(s.Members) > 0:
		view = failed("Set spec.deletion.volumes to Retain: the hook then backs up the primary, and all volumes stay",
			"deletion hook %q cannot start: the operator cannot know which of %d volumes has every acknowledged write, because DatabaseEngine %s "+
				"has no spec.state.lock",
			hook.Name, len(s.Own), s.Engine.Name)
	case gone(s) != "":
		view = failed("Set spec.deletion.volumes to Retain: the hook then backs up a member that runs, and all volumes stay",
			"deletion hook %q cannot start: pod %s no longer runs and may still count for the majority, but %s", hook.Name, gone(s), readsLatest)
	default:
		return hookView{}, false
	}
	view.stops = true
	return view, true
}

// gone is a voter that has to be ready, but does not run and is not created any more; "" for none.
func gone(s *situation.Situation) string {
	pod := s.Unready()
	ordinal, named := naming.Ordinal(s.Cluster.Name, pod)
	if !named || s.Has(ordinal) || slices.ContainsFunc(s.Members, func(m state.Member) bool { return m.Name == pod }) {
		return ""
	}
	return pod
}

// awaitVoter waits for a voter before the others stop: without it, no volume would be known to have every acknowledged write.
func awaitVoter(s *situation.Situation, hook dbv1.DeletionHook, pod string) hookView {
	since := s.Cluster.DeletionTimestamp.Time
	if m, exists := state.First(s.Members, func(m state.Member) bool { return m.Name == pod }); exists && m.Down().After(since) {
		since = m.Down()
	}
	left := deadline(s) - s.At.Sub(since)
	if left <= 0 {
		view := failed(fmt.Sprintf("Correct the cause why pod %s is not ready; the hook then continues", pod),
			"deletion hook %q failed: pod %s was not ready within spec.deletion.hookDeadlineSeconds (%d s), but %s",
			hook.Name, pod, s.Cluster.Spec.Deletion.HookDeadlineSeconds, readsLatest)
		view.stops = true
		return view
	}
	view := underway("deletion hook %q waits until pod %s is ready: %s", hook.Name, pod, readsLatest)
	view.requeueAfter, view.stops = left, true
	return view
}

// unstoppable returns a pod that did not stop in time, or the time until the next one is overdue. A pod that has terminated and has
// only our finalizer left is released after its exit code is recorded.
func unstoppable(s *situation.Situation) (pod string, soonest time.Duration) {
	for _, m := range s.Members {
		left, lost := overdue(s, m)
		if lost && (!m.End.Reached || m.HasFinalizer && records(s) && !continuesOnFailure(s)) {
			return m.Name, 0
		}
		soonest = situation.Sooner(soonest, left)
	}
	return "", soonest
}

// foreignBackup returns why the DatabaseBackup with the name of a fenced hook's is not the hook's backup: another client created it
// or wrote its status. It returns "" for the hook's own backup.
func foreignBackup(s *situation.Situation, backup state.HookBackup) string {
	switch {
	case backup.Elsewhere:
		return "it has its own spec.destination"
	case backup.Phase != dbv1.BackupCompleted:
		return ""
	case backup.Cluster != s.Cluster.UID:
		return "it belongs to another cluster"
	case cmp.Or(backup.Template, naming.DataVolume) != naming.ClaimTemplate(s.Cluster):
		return "it has the data of other volumes"
	case backup.Fence != s.Fence():
		return "it did not start after the members had stopped"
	}
	return ""
}

func mistaken(hook dbv1.DeletionHook, name, why string) hookView {
	view := failed(fmt.Sprintf("Delete DatabaseBackup %s to repeat the backup", name),
		"deletion hook %q failed: DatabaseBackup %s does not contain the latest data of this cluster: %s", hook.Name, name, why)
	view.reason = dbv1.ReasonNameConflict
	return view
}

// saved reports whether the final backup allows the deletion of a volume: no backup is required, it contains every write to the
// volume, or the volume contains only part of another backup.
func saved(s *situation.Situation, v state.Volume) bool {
	hooks := state.Only(s.Cluster.Spec.Deletion.Hooks, func(h dbv1.DeletionHook) bool { return h.Type == dbv1.HookBackup })
	return len(hooks) == 0 || v.IsFilling() || slices.ContainsFunc(hooks, func(h dbv1.DeletionHook) bool {
		backup, found := s.HookBackups[h.Name]
		return found && covers(s, backup) && (s.Related() || slices.Contains(backup.Done, v.Ordinal))
	})
}

// covers reports whether no member can have written data since a backup started.
func covers(s *situation.Situation, backup state.HookBackup) bool {
	return backup.Phase == dbv1.BackupCompleted && !backup.Ending && backup.Fence != "" && foreignBackup(s, backup) == ""
}

// lostBackup blocks a deletion whose final backup no longer exists while its volumes are terminating: no other backup can contain
// their data.
func lostBackup(s *situation.Situation, hook dbv1.DeletionHook) (hookView, bool) {
	v, found := state.First(s.Own, func(v state.Volume) bool { return v.Terminating })
	if !found {
		return hookView{}, false
	}
	return failed("Set spec.deletion.volumes to Retain to keep the remaining volumes",
		"deletion hook %q failed: its DatabaseBackup no longer exists, and PersistentVolumeClaim %s is already terminating, so no backup can "+
			"contain its data. The operator deletes no other volume",
		hook.Name, v.Claim), true
}
