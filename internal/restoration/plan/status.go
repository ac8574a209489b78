/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// StatusOf is the status after a pass: from the plan, the preview, and the error of the plan's execution.
func StatusOf(restore *dbv1.DatabaseRestore, seen RestoreFacts, todo RestorePlan, err error, now metav1.Time) dbv1.DatabaseRestoreStatus {
	s := *restore.Status.DeepCopy()
	s.ObservedGeneration = restore.Generation
	s.PreviewRef, s.RecoveredTo, s.LastCommitTime = nil, nil, nil
	if preview := seen.Preview; preview != nil && metav1.IsControlledBy(preview, restore) {
		s.PreviewRef = &dbv1.RestoreClusterRef{Name: preview.Name}
		s.BackupRef = firstBackup(restore, preview)
		if done := preview.Status.Restore; done != nil {
			s.RecoveredTo, s.LastCommitTime = done.RecoveredTo, done.LastCommitTime
		}
	}
	if s.BackupRef == nil {
		s.BackupRef = todo.Backup
	}
	s.ClusterUID = cmp.Or(s.ClusterUID, todo.ClusterUID)
	if r := heldBy(restore, seen); r != nil {
		s.ClusterUID, s.RetainedVolumeClaimTemplate = string(seen.Cluster.UID), r.OtherVolumeClaimTemplate
		if r.Restore != nil {
			s.RecoveredTo, s.LastCommitTime = r.Restore.RecoveredTo, r.Restore.LastCommitTime
		}
	}
	s.ReplacedAt = replacedAt(restore, seen, todo, now)
	if stall := status.Refusal(err); stall != nil {
		todo.Stalled, todo.Why, todo.Ready = stall, stall.Message, false
	}
	for _, c := range []metav1.Condition{ready(todo), stall(todo)} {
		c.ObservedGeneration, c.LastTransitionTime = restore.Generation, now
		meta.SetStatusCondition(&s.Conditions, c)
	}
	return s
}

// replacedAt is since when the cluster is available with the restored data; nil if it has other data, or is about to.
func replacedAt(restore *dbv1.DatabaseRestore, seen RestoreFacts, todo RestorePlan, now metav1.Time) *metav1.Time {
	before, r := restore.Status.ReplacedAt, heldBy(restore, seen)
	switch {
	case restore.Spec.Mode == dbv1.RestoreUndo:
		return nil
	case restore.DeletionTimestamp != nil:
		return before
	case r != nil && r.VolumeClaimTemplate != naming.RestoredTemplate(restore.UID):
		return nil
	case before == nil && todo.Ready && todo.Reason == dbv1.ReasonReplaced:
		return &now
	default:
		return before
	}
}

func ready(todo RestorePlan) metav1.Condition {
	is := metav1.Condition{Type: dbv1.ConditionReady, Status: metav1.ConditionFalse, Reason: cmp.Or(todo.Reason, dbv1.ReasonRestoring),
		Message: todo.Why}
	switch {
	case todo.Ready:
		is.Status = metav1.ConditionTrue
	case todo.Stalled != nil:
		is.Reason = todo.Stalled.Reason
	}
	return is
}

func stall(todo RestorePlan) metav1.Condition {
	is := metav1.Condition{Type: dbv1.ConditionStalled, Status: metav1.ConditionFalse, Reason: dbv1.ReasonNotStalled}
	is.Message = "no action required"
	if todo.Stalled != nil {
		is.Status, is.Reason, is.Message = metav1.ConditionTrue, todo.Stalled.Reason, todo.Stalled.Message
	}
	return is
}
