/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// ActionKind has the properties that all actions of one kind share. A new kind of action needs a row in
// kinds, and a Spec with its command, location and data.
type ActionKind struct {
	// Retries is the number of attempts after the first.
	Retries int32
	// Deadline bounds an action, retries included. The cluster is nil if it no longer exists.
	Deadline func(cluster *dbv1.DatabaseCluster) time.Duration
	// Resources of its containers; nil where each action has its own.
	Resources func(cluster *dbv1.DatabaseCluster) corev1.ResourceRequirements
	// Supersede selects the Jobs to re-create when their template has changed.
	Supersede Supersede
	// Log is the purpose for which the operator reads the log of a running pod.
	Log Log
	// Places is true if its pods create the volumes of members. They are scheduled like the members, which follow their
	// volumes. Other pods ignore the affinity of members to pods: they follow the volume that they mount, if any.
	Places bool
	// Connects is true if its pods may connect to every port of the members.
	Connects bool
}

// Supersede selects the Jobs of a kind to re-create when their template has changed. The template of a Job is
// immutable, so a correction of the spec reaches its pods only by a new Job.
type Supersede int

const (
	// SupersedeUnstarted re-creates only Jobs that have not started. The operator never interrupts an action that has
	// run, or may have run.
	SupersedeUnstarted Supersede = iota
	// SupersedeFailed also re-creates Jobs that have failed, or that wait for another attempt after a failed one: none of
	// their pods runs, and the action can start again.
	SupersedeFailed
)

// Log is the purpose for which the operator reads the log of a Job's pod. It is for users: the operator decides
// nothing by it.
type Log int

const (
	// LogIgnored does not read the log.
	LogIgnored Log = iota
	// LogProgress reads the progress of a transfer, as long as its pod has no problem.
	LogProgress
	// LogRestore reads the progress of a restore, also while its pod is about to leave its node.
	LogRestore
	// LogAnswer reads the answer of a copy to its probe.
	LogAnswer
)

const (
	week    = 7 * 24 * time.Hour
	halfDay = 12 * time.Hour
)

// kinds are the kinds of actions by the component label of their Jobs.
var kinds = map[string]ActionKind{
	dbv1.ComponentHook:   {Retries: 2, Deadline: hookDeadline, Connects: true},
	dbv1.ComponentBackup: {Retries: 6, Deadline: backupDeadline, Resources: backupResources, Log: LogProgress, Connects: true},
	// A restore that hangs fails long before its deadline: transfer detects that.
	dbv1.ComponentRestore: {Retries: 6, Deadline: aWeek, Resources: backupResources, Supersede: SupersedeFailed, Log: LogRestore, Connects: true, Places: true},
	// Each failed attempt keeps its volume until the verification has finished, so there are few attempts. A copy must
	// not reach the members of the database that it is a copy of.
	dbv1.ComponentVerification: {Retries: 2, Deadline: verificationDeadline, Resources: backupResources, Log: LogAnswer},
	// Members that cannot be reached do not count as failed attempts.
	dbv1.ComponentRotation: {Retries: 3, Deadline: anHour, Resources: backupResources, Supersede: SupersedeFailed, Connects: true},
	// A member may be down for hours before it can load a certificate.
	dbv1.ComponentReload: {Retries: 6, Deadline: aDay, Resources: backupResources, Connects: true},
	// Another attempt helps only if members have changed meanwhile, so the operator starts it, and the Job has few.
	dbv1.ComponentHandOver:     {Retries: 2, Deadline: tenMinutes, Supersede: SupersedeFailed, Connects: true},
	dbv1.ComponentMemberRemove: {Retries: 6, Deadline: anHour, Supersede: SupersedeFailed, Connects: true},
	dbv1.ComponentConfigure:    {Retries: 3, Deadline: anHour, Supersede: SupersedeFailed, Connects: true},
	// A destination may be unreachable for a week before the user must act.
	dbv1.ComponentBackupDeletion: {Retries: 6, Deadline: aWeek, Resources: backupResources},
}

// KindOf returns the kind of the actions whose Jobs have a component. It is empty for a component that is not
// an action.
func KindOf(component string) ActionKind { return kinds[component] }

// FieldOfResources is the field that sets the resources of a kind of Job, for remedies. Jobs of hooks have their own field.
func FieldOfResources(cluster *dbv1.DatabaseCluster, component string) string {
	if cluster != nil && cluster.Spec.Backup != nil && KindOf(component).Resources != nil {
		return "spec.backup.resources"
	}
	return "spec.helpers.resources"
}

// Components are the components of the Jobs of actions.
func Components() []string { return slices.Sorted(maps.Keys(kinds)) }

// Connecting are the components of the pods that may connect to every port of the members: themselves, and the Jobs of
// actions that need them.
func Connecting() []string {
	return append(slices.DeleteFunc(Components(), func(c string) bool { return !kinds[c].Connects }), dbv1.ComponentDatabase)
}

func tenMinutes(*dbv1.DatabaseCluster) time.Duration { return 10 * time.Minute }

func aWeek(*dbv1.DatabaseCluster) time.Duration  { return week }
func anHour(*dbv1.DatabaseCluster) time.Duration { return time.Hour }

func hookDeadline(cluster *dbv1.DatabaseCluster) time.Duration {
	if cluster == nil {
		return 0
	}
	return time.Duration(cluster.Spec.Deletion.HookDeadlineSeconds) * time.Second
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

func aDay(*dbv1.DatabaseCluster) time.Duration { return 24 * time.Hour }
