/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Report returns the backup with its status after a pass. A backup in deletion without the operator's finalizer may
// no longer exist.
func (r *Reconciler) Report(p pass) (*dbv1.DatabaseBackup, []kit.Event) {
	backup := p.Object
	if backup.DeletionTimestamp != nil && !state.HasFinalizer(backup) {
		return backup, nil
	}
	after := backup.DeepCopy()
	after.Status = plan.StatusOf(backup, p.Plan, p.Err, metav1.NewTime(r.Clock.Now()))
	news := kit.Transitions(transitions, backup.Status.Conditions, after.Status.Conditions)
	return after, append(troubles(backup, p.Plan), news...)
}

// transitions are the conditions whose changes are events.
var transitions = []operation.Transition{
	{Condition: dbv1.ConditionReady, Status: metav1.ConditionTrue, Type: corev1.EventTypeNormal, Action: "Report"},
	{Condition: dbv1.ConditionStalled, Status: metav1.ConditionTrue, Type: corev1.EventTypeWarning, Action: "Report"},
	{Condition: dbv1.ConditionVerified, Status: metav1.ConditionTrue, Type: corev1.EventTypeNormal, Action: "Report"},
	{Condition: dbv1.ConditionVerified, Status: metav1.ConditionFalse, Type: corev1.EventTypeWarning, Action: "Report"},
}

// troubles are new problems of a Job, whose deadline may be far away. The event of a Stalled that becomes True has the same cause.
func troubles(before *dbv1.DatabaseBackup, todo plan.BackupPlan) []kit.Event {
	if todo.Stalled != nil && !meta.IsStatusConditionTrue(before.Status.Conditions, dbv1.ConditionStalled) {
		return nil
	}
	said := []string{before.Status.Message}
	if v := before.Status.Verification; v != nil {
		said = append(said, v.Message)
	}
	if c := meta.FindStatusCondition(before.Status.Conditions, dbv1.ConditionDeletionBlocked); c != nil {
		said = append(said, c.Message)
	}
	reported := func(text string) bool { return strings.HasPrefix(text, todo.Trouble) }
	if todo.Trouble == "" || slices.ContainsFunc(said, reported) {
		return nil
	}
	return []kit.Event{kit.Warning("JobRetrying", "Report", todo.Trouble)}
}
