/*
SPDX-License-Identifier: Apache-2.0
*/

package deletion

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// finalBackup returns the name of a hook's DatabaseBackup. If members have to stop first, it has none before there is a fence.
func finalBackup(cluster *dbv1.DatabaseCluster, fence string, hook dbv1.DeletionHook) state.Ref {
	switch {
	case !situation.Fences(cluster, hook):
		return state.Ref{Kind: "DatabaseBackup", Name: naming.HookJob(cluster.Name, hook.Name, cluster.UID)}
	case fence == "":
		return state.Ref{}
	default:
		return state.Ref{Kind: "DatabaseBackup", Name: naming.FencedBackup(cluster.Name, hook.Name, cluster.UID, fence)}
	}
}

// backupHook creates a DatabaseBackup and waits until it is complete.
func backupHook(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	name := finalBackup(s.Cluster, s.Fence(), hook).Name
	backup, started := s.HookBackups[hook.Name]
	switch {
	case backup.Ending:
		return underway("deletion hook %q waits until its previous DatabaseBackup %s is deleted", hook.Name, name)
	case !started && neverStarted(s):
		return succeeded("there is nothing to back up: no member was ever created")
	case !started:
		return startBackup(s, hook)
	case (situation.Fences(s.Cluster, hook) || backup.Elsewhere) && foreignBackup(s, backup) != "":
		return mistaken(hook, name, foreignBackup(s, backup))
	case backup.Phase == dbv1.BackupCompleted:
		return succeeded("DatabaseBackup %s is complete; its location is %s", name, backup.Location)
	case backup.Phase == dbv1.BackupFailed:
		return failed(fmt.Sprintf("Delete DatabaseBackup %s to retry", name),
			"deletion hook %q failed: DatabaseBackup %s: %s", hook.Name, name, backup.Message)
	default:
		return awaitBackup(s, hook, backup)
	}
}

// startBackup creates the DatabaseBackup of a hook. If the volumes are to be deleted, the members have stopped before.
func startBackup(s *situation.Situation, hook dbv1.DeletionHook) hookView {
	if cause, remedy := noBackup(s); cause != "" {
		view := failed(remedy, "deletion hook %q cannot start: %s", hook.Name, cause)
		view.requeueAfter = situation.MissingRequeue // engines are not watched
		return view
	}
	if situation.Fences(s.Cluster, hook) && !s.Terminating {
		if view, lost := lostBackup(s, hook); lost {
			return view
		}
		if view, fenced := fence(s, hook); !fenced {
			return view
		}
	}
	return start(s, hook, resources.HookBackup(s.Cluster, finalBackup(s.Cluster, s.Fence(), hook).Name))
}

// neverStarted reports whether the cluster never had a member and adopted no volume. The volumes of an interrupted restore contain
// only part of a backup.
func neverStarted(s *situation.Situation) bool {
	there := s.StatefulSet != nil || len(s.Members) > 0 || s.ForeignStatefulSet()
	return !there && s.Cluster.Status.UpdateRevision == "" && !slices.ContainsFunc(s.Volumes, func(v state.Volume) bool {
		return v.Cluster == s.Cluster.UID && !v.IsFilling()
	})
}

// noBackup returns why no backup is possible and the remedy; "" if one is possible.
func noBackup(s *situation.Situation) (cause, remedy string) {
	switch spec := s.Cluster.Spec; {
	case spec.Engine == "":
		return "spec.engine is empty, so no DatabaseEngine describes how to back up the database", "Set spec.engine"
	case s.EngineUnreadable != "":
		return fmt.Sprintf("DatabaseEngine %s, which spec.engine names, cannot be read: %s", spec.Engine, s.EngineUnreadable),
			"Grant the operator permission to get databaseengines"
	case s.Engine == nil:
		return fmt.Sprintf("DatabaseEngine %s, which spec.engine names, does not exist", spec.Engine), "Create it"
	case s.Engine.Spec.Actions.Backup == nil:
		return fmt.Sprintf("DatabaseEngine %s has no backup action", spec.Engine), "Set spec.engine to an engine that has one"
	case spec.Backup == nil:
		return "spec.backup.destination is not set", "Set spec.backup.destination"
	}
	return "", ""
}

// awaitBackup waits for a backup until the deadline. Members that are ready run until they are backed up. If no remaining member is
// ready, all members stop, and the operator backs up their volumes.
func awaitBackup(s *situation.Situation, hook dbv1.DeletionHook, backup state.HookBackup) hookView {
	left := backup.Created.Add(deadline(s)).Sub(s.At)
	if left <= 0 {
		return failed(fmt.Sprintf("Increase spec.deletion.hookDeadlineSeconds, or delete DatabaseBackup %s to retry", backup.Name),
			"deletion hook %q failed: DatabaseBackup %s did not complete within spec.deletion.hookDeadlineSeconds (%d s)%s",
			hook.Name, backup.Name, s.Cluster.Spec.Deletion.HookDeadlineSeconds, after(": ", backup.Message))
	}
	lacks := after("; ", situation.DescribeMissing(s.Missing()))
	view := underway("deletion hook %q waits for DatabaseBackup %s%s%s", hook.Name, backup.Name, after(": ", backup.Message), lacks)
	switch {
	case lacks != "":
		view = view.waitsFor("Create the missing object")
	case backup.Stuck:
		view = view.waitsFor("After your correction, the backup continues")
	}
	view.requeueAfter = left
	if situation.Fences(s.Cluster, hook) || canBeAsked(s, backup) {
		return view
	}
	if next := lowerAll(s, dbv1.ReasonHookRunning); next.Waits() {
		view.operations, view.requeueAfter = next.Operations, situation.Sooner(left, next.RequeueAfter)
		view.message += "; none of the remaining members is ready, so the operator stops all members and backs up their volumes: " + next.Message
	}
	return view
}

// canBeAsked reports whether a ready member is not backed up yet.
func canBeAsked(s *situation.Situation, backup state.HookBackup) bool {
	members := backup.Members
	if members == 0 {
		members = s.Cluster.Spec.Replicas
	}
	if s.Related() { // any member has all data
		return len(backup.Done) == 0 && s.Ready() > 0
	}
	return slices.ContainsFunc(s.Members, func(m state.Member) bool {
		return m.Ordinal < members && m.Ready && !m.Terminating && !slices.Contains(backup.Done, m.Ordinal)
	})
}

func deadline(s *situation.Situation) time.Duration {
	return time.Duration(s.Cluster.Spec.Deletion.HookDeadlineSeconds) * time.Second
}

// after joins a lead and a text, if the text is not empty.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}
