/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Backup is what the operator uses of a DatabaseBackup for its cluster, and all that it uses. How far one is
// that runs is not among it: that would wake the cluster every few seconds.
type Backup struct {
	Name    string
	UID     types.UID
	Created metav1.Time
	// CreatedFor is the UID of the cluster whose schedule created the backup; RanFor that of the one whose data it
	// holds. Either may be unknown.
	CreatedFor, RanFor types.UID
	// Schedule is the schedule that created it, ScheduledAt the time by that; empty for any other. Both are of
	// status.origin, which no user can write.
	Schedule    string
	ScheduledAt metav1.Time
	// Cluster is the name of the cluster that it is asked for, Policy what becomes of its data, and Elsewhere tells that
	// it has a destination of its own.
	Cluster   string
	Policy    dbv1.BackupDeletionPolicy
	Elsewhere bool
	Phase     dbv1.BackupPhase
	// Completed is when it was complete, Failure why it failed.
	Completed metav1.Time
	Failure   string
	// Bytes is how much the database gave.
	Bytes int64
	// Terminating tells that it is being deleted.
	Terminating bool
	// Asked is the verification that was asked for last, Verification the one that was tried last.
	Asked        string
	Verification Verification
	// Read tells that a new cluster is to start with it, and has not done so yet.
	Read bool
	// Version is the resourceVersion, for preconditions. No decision reads it.
	Version string
}

// Verification is a try to restore a backup.
type Verification struct {
	Request string
	Phase   dbv1.VerificationPhase
	Started metav1.Time
	Ended   metav1.Time
	Message string
}

// BackupOf reads a Backup from its object.
func BackupOf(backup *dbv1.DatabaseBackup) Backup {
	b := Backup{
		Name:         backup.Name,
		UID:          backup.UID,
		Created:      backup.CreationTimestamp,
		RanFor:       types.UID(backup.Status.ClusterUID),
		Cluster:      backup.Spec.Cluster,
		Policy:       backup.Spec.DeletionPolicy,
		Elsewhere:    backup.Spec.Destination != nil,
		Phase:        backup.Status.Phase,
		Terminating:  backup.DeletionTimestamp != nil,
		Asked:        asked(backup.Annotations[dbv1.AnnotationVerify]),
		Verification: verificationOf(backup.Status.Verification),
		Version:      backup.ResourceVersion,
	}
	if origin := backup.Status.Origin; origin != nil {
		b.CreatedFor, b.Schedule, b.ScheduledAt = types.UID(origin.ClusterUID), origin.Schedule, origin.ScheduledTime
	}
	switch b.Phase {
	case dbv1.BackupCompleted:
		b.Completed, b.Bytes = backup.CreationTimestamp, backup.Status.Bytes
		if backup.Status.CompletionTime != nil {
			b.Completed = *backup.Status.CompletionTime
		}
	case dbv1.BackupFailed:
		b.Failure = backup.Status.Message
	case dbv1.BackupPending, dbv1.BackupRunning: // what is said meanwhile is for people
	}
	return b
}

// maxRequest is as much of a request as the status can hold.
const maxRequest = 253

// asked is a request as the status will repeat it: one that it cannot would seem to be unanswered for ever.
func asked(request string) string {
	return strings.ToValidUTF8(request[:min(len(request), maxRequest)], "")
}

func verificationOf(seen *dbv1.BackupVerification) Verification {
	if seen == nil {
		return Verification{}
	}
	v := Verification{Request: seen.Request, Phase: seen.Phase, Message: seen.Message}
	if seen.StartTime != nil {
		v.Started, v.Ended = *seen.StartTime, *seen.StartTime
	}
	if seen.CompletionTime != nil {
		v.Ended = *seen.CompletionTime
	}
	return v
}

// Facts is the backup without what no decision reads.
func (b Backup) Facts() Backup {
	b.Version = ""
	return b
}

// Of tells whether the backup counts as one of a cluster: it is not that of a previous cluster of the same name, and it
// goes to the destination of the cluster. One that a user created has no UID until it runs.
func (b Backup) Of(cluster *dbv1.DatabaseCluster) bool {
	switch {
	case b.Elsewhere:
		return false
	case b.RanFor != "":
		return b.RanFor == cluster.UID
	case b.CreatedFor != "":
		return b.CreatedFor == cluster.UID
	default:
		return !b.Created.Before(&cluster.CreationTimestamp)
	}
}

// Complete tells whether the backup is there to be restored.
func (b Backup) Complete() bool { return b.Phase == dbv1.BackupCompleted && !b.Terminating }

// Verifying tells whether a restore of it is being tried, or has been asked for. One that is being deleted is not restored
// any more.
func (b Backup) Verifying() bool {
	return b.Complete() && (b.Verification.Phase == dbv1.VerificationRunning || b.Asked != "" && b.Asked != b.Verification.Request)
}

// Bad tells whether a restore of it has been tried and failed.
func (b Backup) Bad() bool { return b.Verification.Phase == dbv1.VerificationFailed }

// Good tells whether it is complete and a restore of it has been tried and succeeded.
func (b Backup) Good() bool {
	return b.Complete() && b.Verification.Phase == dbv1.VerificationSucceeded
}

// Younger orders backups as they are made: one after the other, by creation, then by name.
func Younger(a, b Backup) int {
	return cmp.Or(a.Created.Compare(b.Created.Time), strings.Compare(a.Name, b.Name))
}

// Last is the last by an order of the backups that a condition holds for; found is false when there is none.
func (o Observed) Last(order func(a, b Backup) int, holds func(Backup) bool) (last Backup, found bool) {
	for _, b := range o.Backups {
		if holds(b) && (!found || order(b, last) > 0) {
			last, found = b, true
		}
	}
	return last, found
}

// Newest is the last made of the backups that a condition holds for.
func (o Observed) Newest(holds func(Backup) bool) (newest Backup, found bool) {
	return o.Last(Younger, holds)
}

// Verified is the backup whose restore was tried last of those that a condition holds for.
func (o Observed) Verified(holds func(Backup) bool) (last Backup, found bool) {
	started := func(a, b Backup) int { return a.Verification.Started.Compare(b.Verification.Started.Time) }
	return o.Last(started, func(b Backup) bool { return !b.Verification.Started.IsZero() && holds(b) })
}

// Verifying tells whether a restore of any backup is being tried.
func (o Observed) Verifying() bool { return slices.ContainsFunc(o.Backups, Backup.Verifying) }
