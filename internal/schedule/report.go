/*
SPDX-License-Identifier: Apache-2.0
*/

package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// report is what a pass reports about backups.
type report struct {
	*situation.Situation
	plan Plan
}

// write fills in the status of backups. Conditions that the spec no longer needs are removed.
func (r report) write(_ subject.Executed, status *dbv1.DatabaseClusterStatus) []metav1.Condition {
	r.status(status)
	all := r.conditions()
	for _, kind := range []string{dbv1.ConditionBackupHealthy, dbv1.ConditionBackupVerified} {
		if !slices.ContainsFunc(all, func(c metav1.Condition) bool { return c.Type == kind }) {
			meta.RemoveStatusCondition(&status.Conditions, kind)
		}
	}
	return all
}

func (r report) status(status *dbv1.DatabaseClusterStatus) {
	if r.Cluster.Spec.Backup == nil {
		status.Backup = nil
		return
	}
	seen := &dbv1.ClusterBackupStatus{}
	if newest, found := r.Newest(state.Backup.Complete); found {
		seen.LastCompletedBackup, seen.LastCompletionTime, seen.LastCompletedBytes = newest.Name, &newest.Completed, newest.Bytes
	}
	if last, found := r.Verified(state.Backup.Good); found {
		seen.LastVerifiedBackup, seen.LastVerificationTime = last.Name, &last.Verification.Ended
	} else if before := status.Backup; before != nil && r.Verifying() {
		// The latest attempt has replaced the previous verification of this backup.
		seen.LastVerifiedBackup, seen.LastVerificationTime = before.LastVerifiedBackup, before.LastVerificationTime
	}
	r.recovered(seen, status.Backup)
	if next := r.plan.Next; !next.IsZero() {
		seen.NextScheduleTime = &metav1.Time{Time: next}
	}
	status.Backup = seen
}

// recovered reports the last recoveries of copies. While the spec asks for recoveries, the results stay without their DatabaseBackups.
func (r report) recovered(seen, before *dbv1.ClusterBackupStatus) {
	if before != nil && r.recovers() {
		seen.LastRecoveryTime, seen.LastRecoveryTarget = before.LastRecoveryTime, before.LastRecoveryTarget
		seen.LastRecoveryDurationSeconds, seen.LastRecoveryLagSeconds = before.LastRecoveryDurationSeconds, before.LastRecoveryLagSeconds
	}
	if last, found := r.Verified(state.Backup.Recovered); found {
		v := last.Verification
		seen.LastRecoveryTime, seen.LastRecoveryTarget, seen.LastRecoveryDurationSeconds = &v.Ended, v.Target, v.Took
	}
	if last, found := r.Verified(func(b state.Backup) bool { return b.Recovered() && b.Verification.LagKnown }); found {
		seen.LastRecoveryLagSeconds = new(last.Verification.Lag)
	}
}

func (r report) recovers() bool {
	verify := r.Cluster.Spec.Backup.Verification
	return verify != nil && verify.Recover != ""
}

// conditions exist while the spec asks for backups. BackupVerified exists if the spec or a user asks for verifications: while
// one has failed, no backup expires.
func (r report) conditions() []metav1.Condition {
	var all []metav1.Condition
	if r.Cluster.Spec.Backup != nil {
		all = append(all, r.backupHealthy())
		if r.Cluster.Spec.Backup.Verification != nil || r.tried() {
			all = append(all, r.backupVerified())
		}
	}
	return all
}

// tried reports whether a verification runs or has ended, regardless of who requested it.
func (r report) tried() bool {
	_, ended := r.LastVerified()
	return ended || r.Verifying()
}

// backupHealthy reports whether a complete backup is recent enough, regardless of other backups. Without a maximum age, it reports
// whether the last backup succeeded.
func (r report) backupHealthy() metav1.Condition {
	if invalid := r.plan.Invalid; invalid != "" {
		return subject.Condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonInvalidSchedule, invalid)
	}
	if taken := r.plan.Taken; taken != "" {
		return subject.Condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonBackupNameConflict, taken)
	}
	if overdue, bounded := Overdue(r.Cluster, r.Observed); bounded {
		return r.youngEnough(overdue)
	}
	last, found := r.Newest(func(b state.Backup) bool { return b.Phase.Finished() && !b.Terminating })
	switch {
	case !found:
		return unknown(dbv1.ConditionBackupHealthy, dbv1.ReasonNoBackup, "no backup has finished yet")
	case !last.Complete():
		return subject.Condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonBackupFailed, failed(last))
	default:
		return r.fresh(last, complete(last))
	}
}

func (r report) youngEnough(overdue time.Time) metav1.Condition {
	newest, found := r.Newest(state.Backup.Complete)
	late := !r.At.Before(overdue)
	maxAge := r.Cluster.Spec.Backup.UnhealthyAfter.Duration
	text := "no complete backup exists"
	if found {
		text = complete(newest)
	}
	last, ended := r.Newest(func(b state.Backup) bool { return b.Phase == dbv1.BackupFailed && !b.Terminating })
	if ended && (!found || state.Younger(last, newest) > 0) {
		text += "; since then " + failed(last)
	}
	switch {
	case late:
		return subject.Condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonBackupOverdue, fmt.Sprintf(
			"no complete backup is younger than %s (spec.backup.unhealthyAfter): %s. Check the latest backups with kubectl get databasebackups",
			maxAge, text))
	case !found:
		return unknown(dbv1.ConditionBackupHealthy, dbv1.ReasonNoBackup, fmt.Sprintf(
			"%s; the first backup must complete by %s", text, moment(metav1.NewTime(overdue))))
	default:
		return r.fresh(newest, text)
	}
}

// fresh reports a recent backup. Its database may be one that was created again although the user did not ask for it, so fresh names the
// newest backup of the previous one.
func (r report) fresh(newest state.Backup, text string) metav1.Condition {
	if !r.present(newest) {
		return subject.Condition(dbv1.ConditionBackupHealthy, false, dbv1.ReasonRestoredSince, r.outdated(newest))
	}
	former, found := situation.Former(r.Observed, newest)
	if !found {
		return subject.Condition(dbv1.ConditionBackupHealthy, true, dbv1.ReasonBackupFresh, text)
	}
	cause := "a member got another volume, or its database was created again"
	if !r.present(former) {
		cause = situation.Replacer(r.Situation) + " replaced the data"
	}
	return subject.Condition(dbv1.ConditionBackupHealthy, true, dbv1.ReasonDataReplaced, fmt.Sprintf(
		"%s. DatabaseBackup %s has other data than DatabaseBackup %s, completed at %s: %s. "+
			"To restore the previous data, create a cluster with spec.bootstrap.fromBackup. If you do not need it, delete its DatabaseBackups: "+
			"retention keeps the last ones",
		text, newest.Name, former.Name, moment(former.Completed), cause))
}

func (r report) present(b state.Backup) bool { return situation.IsPresent(r.Cluster, b) }

// outdated describes that the newest backup has the data of other volumes than the members use.
func (r report) outdated(newest state.Backup) string {
	restore := situation.Replacer(r.Situation)
	text := fmt.Sprintf("no complete backup has the present data: %s replaced that of DatabaseBackup %s", restore, newest.Name)
	if last, found := r.Newest(func(b state.Backup) bool { return b.Complete() && r.present(b) }); found {
		text = fmt.Sprintf("the newest complete backup, DatabaseBackup %s, does not have the present data: since then, %s gave the members "+
			"other volumes. The newest backup of these is DatabaseBackup %s, completed at %s",
			newest.Name, restore, last.Name, moment(last.Completed))
	}
	return text + ". Create a backup, if none is due soon"
}

// backupVerified reports the result of the last verification. While another one runs, it keeps the previous result.
func (r report) backupVerified() metav1.Condition {
	if invalid := r.plan.VerifyInvalid; invalid != "" {
		return subject.Condition(dbv1.ConditionBackupVerified, false, dbv1.ReasonInvalidSchedule, invalid)
	}
	last, found := r.LastVerified()
	before := meta.FindStatusCondition(r.Cluster.Status.Conditions, dbv1.ConditionBackupVerified)
	running := r.Verifying()
	switch {
	case running && before != nil && before.Status != metav1.ConditionUnknown && before.Reason != dbv1.ReasonInvalidSchedule:
		return *before
	case found && !last.Bad():
		return subject.Condition(dbv1.ConditionBackupVerified, true, dbv1.ReasonVerified,
			fmt.Sprintf("DatabaseBackup %s was restored at %s; the restore took %s%s",
				last.Name, moment(last.Verification.Ended), last.Verification.Ended.Sub(last.Verification.Started.Time),
				recoveredTo(last.Verification.Recovery)))
	case found:
		return subject.Condition(dbv1.ConditionBackupVerified, false, dbv1.ReasonVerificationFailed, fmt.Sprintf(
			"the restore of DatabaseBackup %s failed at %s: %s. No backup expires until a verification succeeds",
			last.Name, moment(last.Verification.Ended), strings.TrimSuffix(last.Verification.Message, ".")))
	case running:
		return unknown(dbv1.ConditionBackupVerified, dbv1.ReasonVerificationRunning, "the first verification is running")
	default:
		return unknown(dbv1.ConditionBackupVerified, dbv1.ReasonNotVerified, "no existing backup has been verified yet")
	}
}

// recoveredTo continues the sentence about a restore.
func recoveredTo(r state.Recovery) string {
	if r.Target == "" {
		return ""
	}
	return ", with the recovery to " + moment(r.To)
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
