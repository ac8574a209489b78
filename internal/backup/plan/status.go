/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// StatusOf is the status after a pass: from the plan, and the error of its execution.
func StatusOf(backup *dbv1.DatabaseBackup, todo BackupPlan, err error, now metav1.Time) dbv1.DatabaseBackupStatus {
	s := *todo.Status.DeepCopy()
	s.ObservedGeneration = backup.Generation
	if stall := (*BackupStall)(status.Refusal(err)); stall != nil {
		todo.Stalled = stall
		if !s.Phase.Finished() {
			s.Message = stall.Message
		}
	}
	all := []metav1.Condition{ready(s), stalled(backup, s, todo)}
	if s.Verification != nil {
		all = append(all, verified(s.Verification))
	}
	if backup.DeletionTimestamp != nil {
		all = append(all, deletionBlocked(todo))
	}
	for _, c := range all {
		c.ObservedGeneration, c.LastTransitionTime = backup.Generation, now
		meta.SetStatusCondition(&s.Conditions, c)
	}
	return s
}

func condition(kind string, is metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: is, Reason: reason, Message: message}
}

func ready(s dbv1.DatabaseBackupStatus) metav1.Condition {
	switch s.Phase {
	case dbv1.BackupCompleted:
		return condition(dbv1.ConditionReady, metav1.ConditionTrue, dbv1.ReasonBackupCompleted, "the backup is at "+s.Location)
	case dbv1.BackupFailed:
		return condition(dbv1.ConditionReady, metav1.ConditionFalse, dbv1.ReasonBackupFailed, s.Message)
	case dbv1.BackupRunning:
		return condition(dbv1.ConditionReady, metav1.ConditionFalse, dbv1.ReasonBackupRunning, s.Message)
	case dbv1.BackupPending:
		return condition(dbv1.ConditionReady, metav1.ConditionFalse, dbv1.ReasonBackupPending, s.Message)
	}
	return condition(dbv1.ConditionReady, metav1.ConditionFalse, dbv1.ReasonBackupPending, "the backup was deleted before it started")
}

// stalled is the Stalled condition of the backup. DeletionBlocked also reports the reason of a blocked deletion.
func stalled(backup *dbv1.DatabaseBackup, s dbv1.DatabaseBackupStatus, todo BackupPlan) metav1.Condition {
	switch {
	case todo.Stalled != nil:
		return condition(dbv1.ConditionStalled, metav1.ConditionTrue, todo.Stalled.Reason, todo.Stalled.Message)
	case s.Phase == dbv1.BackupFailed && backup.DeletionTimestamp == nil:
		return condition(dbv1.ConditionStalled, metav1.ConditionTrue, dbv1.ReasonBackupFailed,
			strings.TrimSuffix(s.Message, ".")+". A failed DatabaseBackup stays failed: correct the cause, then create another one")
	default:
		return condition(dbv1.ConditionStalled, metav1.ConditionFalse, dbv1.ReasonNotStalled, "no action required")
	}
}

func verified(v *dbv1.BackupVerification) metav1.Condition {
	switch v.Phase {
	case dbv1.VerificationSucceeded:
		return condition(dbv1.ConditionVerified, metav1.ConditionTrue, dbv1.ReasonVerified, v.Message)
	case dbv1.VerificationFailed:
		return condition(dbv1.ConditionVerified, metav1.ConditionFalse, dbv1.ReasonVerificationFailed, v.Message)
	case dbv1.VerificationRunning:
	}
	return condition(dbv1.ConditionVerified, metav1.ConditionUnknown, dbv1.ReasonVerificationRunning, v.Message)
}

func deletionBlocked(todo BackupPlan) metav1.Condition {
	if todo.Stalled != nil {
		return condition(dbv1.ConditionDeletionBlocked, metav1.ConditionTrue, dbv1.ReasonDeletionError, todo.Stalled.Message)
	}
	return condition(dbv1.ConditionDeletionBlocked, metav1.ConditionFalse, dbv1.ReasonDeleting, todo.Why)
}
