/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"fmt"
	"slices"
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// HookBackupName is the name of the DatabaseBackup of a deletion hook; "" while there can be none, because the members
// have to stop first.
func HookBackupName(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) string {
	if !fences(cluster, hook) {
		return naming.HookBackup(cluster.Name, hook.Name, cluster.UID)
	}
	fence := observed.Fence()
	if fence == "" {
		return ""
	}
	return naming.FencedBackup(cluster.Name, hook.Name, cluster.UID, fence)
}

// backupHook makes a DatabaseBackup and waits until it is complete.
func backupHook(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) hookView {
	name := HookBackupName(cluster, observed, hook)
	backup, started := observed.HookBackups[hook.Name]
	switch {
	case observed.Holds("DatabaseBackup", name):
		return taken(hook, "DatabaseBackup", name)
	case backup.Ending:
		return underway("deletion hook %q waits for its former DatabaseBackup %s to go", hook.Name, name)
	case !started && unborn(cluster, observed):
		return succeeded("there is nothing to back up: no member was ever made")
	case !started:
		return startBackup(cluster, observed, hook)
	case (fences(cluster, hook) || backup.Elsewhere) && foreignBackup(cluster, observed, backup) != "":
		return mistaken(hook, name, foreignBackup(cluster, observed, backup))
	case backup.Phase == dbv1.BackupCompleted:
		return succeeded("DatabaseBackup %s is complete, at %s", name, backup.Location)
	case backup.Phase == dbv1.BackupFailed:
		return failed(fmt.Sprintf("Delete DatabaseBackup %s to try again", name),
			"deletion hook %q failed: DatabaseBackup %s: %s", hook.Name, name, backup.Message)
	default:
		return awaitBackup(cluster, observed, hook, backup)
	}
}

// startBackup makes the DatabaseBackup of a hook, of members that have stopped where their volumes are to be deleted.
func startBackup(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook) hookView {
	if cause, remedy := noBackup(cluster, observed); cause != "" {
		view := failed(remedy, "deletion hook %q cannot start: %s", hook.Name, cause)
		view.again = missingAgain // engines are not watched
		return view
	}
	if fences(cluster, hook) && !observed.Terminating {
		if view, lost := lostBackup(cluster, observed, hook); lost {
			return view
		}
		if view, fenced := fence(cluster, observed, hook); !fenced {
			return view
		}
	}
	return start(cluster, observed, hook, resources.HookBackup(cluster, HookBackupName(cluster, observed, hook)))
}

// unborn tells whether the cluster never had a member, nor took over a volume: what a restore that was cut has left is a
// part of a backup and nothing else.
func unborn(cluster *dbv1.DatabaseCluster, observed state.Observed) bool {
	there := observed.StatefulSet != nil || len(observed.Members) > 0 || slices.ContainsFunc(observed.Foreign, isStatefulSet)
	return !there && cluster.Status.UpdateRevision == "" && !slices.ContainsFunc(observed.Volumes, func(v state.Volume) bool {
		return v.Cluster == cluster.UID && !isRestoring(v)
	})
}

// noBackup is why no backup can be made, and what to do about that; "" when one can.
func noBackup(cluster *dbv1.DatabaseCluster, observed state.Observed) (cause, remedy string) {
	switch spec := cluster.Spec; {
	case spec.Engine == "":
		return "spec.engine names no DatabaseEngine, which would say how to back the database up", "Set spec.engine"
	case observed.EngineUnreadable != "":
		return fmt.Sprintf("DatabaseEngine %s, which spec.engine names, cannot be read: %s", spec.Engine, observed.EngineUnreadable),
			"Let the operator get databaseengines"
	case observed.Engine == nil:
		return fmt.Sprintf("DatabaseEngine %s, which spec.engine names, does not exist", spec.Engine), "Create it"
	case observed.Engine.Spec.Actions.Backup == nil:
		return fmt.Sprintf("DatabaseEngine %s has no backup action", spec.Engine), "Name another in spec.engine"
	case spec.Backup == nil:
		return "spec.backup.destination is missing, so there is no place for the backup", "Set spec.backup.destination"
	}
	return "", ""
}

// awaitBackup waits for a backup as long as the deadline lets it. Members that can be asked stay until they have
// been. When none of those that are left can be, all stop, so that their volumes can be backed up instead.
func awaitBackup(cluster *dbv1.DatabaseCluster, observed state.Observed, hook dbv1.DeletionHook, backup state.HookBackup) hookView {
	left := backup.Created.Add(deadline(cluster)).Sub(observed.At)
	if left <= 0 {
		return failed(fmt.Sprintf("Raise spec.deletion.deadlineSeconds, or delete DatabaseBackup %s to try again", backup.Name),
			"deletion hook %q failed: DatabaseBackup %s is not complete after spec.deletion.deadlineSeconds, %d s%s",
			hook.Name, backup.Name, cluster.Spec.Deletion.DeadlineSeconds, after(": ", backup.Message))
	}
	lacks := after("; ", describeMissing(missing(observed)))
	view := underway("deletion hook %q waits for DatabaseBackup %s%s%s", hook.Name, backup.Name, after(": ", backup.Message), lacks)
	if backup.Stuck || lacks != "" {
		view = view.waitsFor("Correct that")
	}
	view.again = left
	if fences(cluster, hook) || canBeAsked(cluster, observed, backup) {
		return view
	}
	var stop Plan
	if lower(&stop, observed, 0, dbv1.ReasonHookRunning) || stopOrphans(&stop, observed) {
		view.step = stop.Step
		view.message += "; no member that is not backed up yet is ready, so all stop, to be backed up from their volumes: " + stop.Why
	}
	return view
}

// canBeAsked tells whether a member is ready that has not been backed up.
func canBeAsked(cluster *dbv1.DatabaseCluster, observed state.Observed, backup state.HookBackup) bool {
	members := backup.Members
	if members == 0 {
		members = cluster.Spec.Replicas
	}
	return slices.ContainsFunc(observed.Members, func(m state.Member) bool {
		return m.Ordinal < members && m.Ready && !m.Stopping && !slices.Contains(backup.Done, m.Ordinal)
	})
}

func deadline(cluster *dbv1.DatabaseCluster) time.Duration {
	return time.Duration(cluster.Spec.Deletion.DeadlineSeconds) * time.Second
}

// after puts something before a text that is there.
func after(lead, text string) string {
	if text == "" {
		return ""
	}
	return lead + text
}
