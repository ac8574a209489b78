/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// ActionKind is what all actions of one kind have in common. Who adds a kind of action adds a row to actionKinds, and an
// Action that says what runs, where, and with what.
type ActionKind struct {
	// Retries are the attempts after the first.
	Retries int32
	// Deadline is how long an action may take, retries included. The cluster is nil where it no longer exists.
	Deadline func(cluster *dbv1.DatabaseCluster) time.Duration
	// Resources of its containers; nil where each action has its own.
	Resources func(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements
	// Supersede says which Jobs are re-created when what they are made from has changed.
	Supersede Supersede
	// Log is what the log of a pod that runs is read for.
	Log Log
}

// Supersede says which Jobs of a kind are re-created when what they are made from has changed. The template of a Job cannot
// be changed, so a correction of the spec reaches its pods in no other way.
type Supersede int

const (
	// SupersedeUnstarted Jobs: an action that has run, or may have, is never cut off.
	SupersedeUnstarted Supersede = iota
	// SupersedeFailed Jobs, too: no pod of theirs runs, and the action can begin again.
	SupersedeFailed
)

// Log is what the log of a Job's pod is read for. It is for people: nothing is decided by it.
type Log int

const (
	// LogIgnored is not read.
	LogIgnored Log = iota
	// LogProgress says how far a transfer is, as long as its pod has no problem.
	LogProgress
	// LogRestore says how far a restore is, also while its pod is about to leave its node.
	LogRestore
	// LogAnswer says what a copy answered to its probe.
	LogAnswer
)

const (
	week    = 7 * 24 * time.Hour
	halfDay = 12 * time.Hour
)

// actionKinds are the kinds of actions by the label component of their Jobs.
var actionKinds = map[string]ActionKind{
	dbv1.ComponentHook:   {Retries: 2, Deadline: hookDeadline},
	dbv1.ComponentBackup: {Retries: 6, Deadline: backupDeadline, Resources: backupResources, Log: LogProgress},
	// A restore that hangs ends long before its deadline: transfer sees that.
	dbv1.ComponentRestore: {Retries: 6, Deadline: aWeek, Resources: backupResources, Supersede: SupersedeFailed, Log: LogRestore},
	// Each attempt that failed keeps its volume until the verification has ended, so there are few.
	dbv1.ComponentVerification: {Retries: 2, Deadline: verificationDeadline, Resources: backupResources, Log: LogAnswer},
	// A destination may be out of reach for a week before a human has to act.
	dbv1.ComponentBackupDeletion: {Retries: 6, Deadline: aWeek},
}

// ActionKindOf returns the kind of actions whose Jobs have a component; none for a component that is no action.
func ActionKindOf(component string) ActionKind { return actionKinds[component] }

// ActionComponents are the components of the Jobs of actions.
func ActionComponents() []string { return slices.Sorted(maps.Keys(actionKinds)) }

func aWeek(*dbv1.DatabaseCluster) time.Duration { return week }

func hookDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	if cluster == nil {
		return 0
	}
	return time.Duration(cluster.Spec.Deletion.DeadlineSeconds) * time.Second
}

func backupDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	if cluster == nil || cluster.Spec.Backup == nil {
		return halfDay
	}
	return secondsOr(cluster.Spec.Backup.DeadlineSeconds, halfDay)
}

func verificationDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	if cluster == nil || cluster.Spec.Backup == nil || cluster.Spec.Backup.Verification == nil {
		return halfDay
	}
	return secondsOr(cluster.Spec.Backup.Verification.DeadlineSeconds, halfDay)
}

func backupResources(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements {
	if cluster.Spec.Backup == nil {
		return corev1.ResourceRequirements{}
	}
	return cluster.Spec.Backup.Resources
}

func secondsOr(seconds int64, otherwise time.Duration) time.Duration {
	if seconds <= 0 {
		return otherwise
	}
	return time.Duration(seconds) * time.Second
}
