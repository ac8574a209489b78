/*
SPDX-License-Identifier: Apache-2.0
*/

package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/schedule"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// backups fills in the status of backups.
func (p Pass) backups(status *dbv1.DatabaseClusterStatus) {
	if p.Cluster.Spec.Backup == nil {
		status.Backup = nil
		return
	}
	seen := &dbv1.ClusterBackupStatus{}
	if newest, found := p.Newest(state.Backup.Complete); found {
		seen.LastCompletedBackup, seen.LastCompletionTime, seen.LastCompletedBytes = newest.Name, &newest.Completed, newest.Bytes
	}
	if last, found := p.Verified(state.Backup.Good); found {
		seen.LastVerifiedBackup, seen.LastVerificationTime = last.Name, &last.Verification.Ended
	} else if before := status.Backup; before != nil && p.Verifying() {
		// The latest attempt has replaced the previous verification of this backup.
		seen.LastVerifiedBackup, seen.LastVerificationTime = before.LastVerifiedBackup, before.LastVerificationTime
	}
	if next := p.Plan.Schedule.Next; !next.IsZero() {
		seen.NextScheduleTime = &metav1.Time{Time: next}
	}
	status.Backup = seen
}

// backupConditions exist while the spec asks for backups. BackupVerified exists if the spec or a user asks for verifications: while
// one has failed, no backup expires.
func (p Pass) backupConditions() []metav1.Condition {
	var all []metav1.Condition
	if p.Cluster.Spec.Backup != nil {
		all = append(all, p.backupHealthy())
		if p.Cluster.Spec.Backup.Verification != nil || p.tried() {
			all = append(all, p.backupVerified())
		}
	}
	return all
}

// tried reports whether a verification runs or has ended, regardless of who requested it.
func (p Pass) tried() bool {
	_, ended := schedule.LastVerified(p.Observed)
	return ended || p.Verifying()
}

// withoutObsolete removes the conditions that the spec no longer needs.
func withoutObsolete(status *dbv1.DatabaseClusterStatus, kept []metav1.Condition) {
	for _, kind := range []string{dbv1.ConditionBackupHealthy, dbv1.ConditionBackupVerified, dbv1.ConditionCredentialsRotated} {
		if !slices.ContainsFunc(kept, func(c metav1.Condition) bool { return c.Type == kind }) {
			meta.RemoveStatusCondition(&status.Conditions, kind)
		}
	}
}

// backupHealthy reports whether a complete backup is recent enough, regardless of other backups. Without a maximum age, it reports
// whether the last backup succeeded.
func (p Pass) backupHealthy() metav1.Condition {
	if invalid := p.Plan.Schedule.Invalid; invalid != "" {
		return condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonInvalidSchedule, invalid)
	}
	if taken := p.Plan.Schedule.Taken; taken != "" {
		return condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonBackupNameConflict, taken)
	}
	if overdue, bounded := schedule.Overdue(p.Cluster, p.Observed); bounded {
		return p.youngEnough(overdue)
	}
	last, found := p.Newest(func(b state.Backup) bool { return b.Phase.Finished() && !b.Terminating })
	switch {
	case !found:
		return unknown(dbv1.ConditionBackupHealthy, dbv1.ReasonNoBackup, "no backup has finished yet")
	case !last.Complete():
		return condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonBackupFailed, failed(last))
	default:
		return p.fresh(last, complete(last))
	}
}

func (p Pass) youngEnough(overdue time.Time) metav1.Condition {
	newest, found := p.Newest(state.Backup.Complete)
	late := !p.At.Before(overdue)
	maxAge := p.Cluster.Spec.Backup.UnhealthyAfter.Duration
	text := "no complete backup exists"
	if found {
		text = complete(newest)
	}
	last, ended := p.Newest(func(b state.Backup) bool { return b.Phase == dbv1.BackupFailed && !b.Terminating })
	if ended && (!found || state.Younger(last, newest) > 0) {
		text += "; since then " + failed(last)
	}
	switch {
	case late:
		return condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonBackupOverdue, fmt.Sprintf(
			"no complete backup is younger than %s (spec.backup.unhealthyAfter): %s. Check the latest backups with kubectl get databasebackups", maxAge, text))
	case !found:
		return unknown(dbv1.ConditionBackupHealthy, dbv1.ReasonNoBackup, fmt.Sprintf(
			"%s; the first backup must complete by %s", text, moment(metav1.NewTime(overdue))))
	default:
		return p.fresh(newest, text)
	}
}

// fresh reports a recent backup. Its database may be one that was created again although the user did not ask for it, so fresh names the
// newest backup of the previous one.
func (p Pass) fresh(newest state.Backup, text string) metav1.Condition {
	former, found := schedule.Former(p.Observed, newest)
	if !found {
		return condition(dbv1.ConditionBackupHealthy, true, dbv1.ReasonBackupFresh, text)
	}
	return condition(dbv1.ConditionBackupHealthy, true, dbv1.ReasonDataReplaced, fmt.Sprintf(
		"%s. DatabaseBackup %s has other data than DatabaseBackup %s, completed at %s: a member got another volume, or its database was created again. "+
			"To restore the previous data, create a cluster with spec.bootstrap.fromBackup. If you do not need it, delete its DatabaseBackups: retention keeps the last ones",
		text, newest.Name, former.Name, moment(former.Completed)))
}

// backupVerified reports the result of the last verification. While another one runs, it keeps the previous result.
func (p Pass) backupVerified() metav1.Condition {
	if invalid := p.Plan.Schedule.VerifyInvalid; invalid != "" {
		return condition(dbv1.ConditionBackupVerified, false, dbv1.ReasonInvalidSchedule, invalid)
	}
	last, found := schedule.LastVerified(p.Observed)
	before := meta.FindStatusCondition(p.Cluster.Status.Conditions, dbv1.ConditionBackupVerified)
	running := p.Verifying()
	switch {
	case running && before != nil && before.Status != metav1.ConditionUnknown && before.Reason != dbv1.ReasonInvalidSchedule:
		return *before
	case found && !last.Bad():
		return condition(dbv1.ConditionBackupVerified, true, dbv1.ReasonVerified, fmt.Sprintf("DatabaseBackup %s was restored at %s; the restore took %s",
			last.Name, moment(last.Verification.Ended), last.Verification.Ended.Sub(last.Verification.Started.Time)))
	case found:
		return condition(dbv1.ConditionBackupVerified, false, dbv1.ReasonVerificationFailed, fmt.Sprintf(
			"the restore of DatabaseBackup %s failed at %s: %s. No backup expires until a verification succeeds",
			last.Name, moment(last.Verification.Ended), strings.TrimSuffix(last.Verification.Message, ".")))
	case running:
		return unknown(dbv1.ConditionBackupVerified, dbv1.ReasonVerificationRunning, "the first verification is running")
	default:
		return unknown(dbv1.ConditionBackupVerified, dbv1.ReasonNotVerified, "no existing backup has been verified yet")
	}
}

func complete(b state.Backup) string {
	return fmt.Sprintf("DatabaseBackup %s completed at %s", b.Name, moment(b.Completed))
}

func failed(b state.Backup) string {
	return fmt.Sprintf("DatabaseBackup %s failed: %s", b.Name, b.Failure)
}

func moment(t metav1.Time) string { return t.UTC().Format(time.RFC3339) }

func unknown(kind, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: metav1.ConditionUnknown, Reason: reason, Message: message}
}
