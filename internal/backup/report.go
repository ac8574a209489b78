/*
SPDX-License-Identifier: Apache-2.0
*/

package backup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
)

// happening is something that happened, for people; it becomes an event.
type happening struct {
	kind, reason, action, note string
}

func normal(reason, action, note string) happening {
	return happening{corev1.EventTypeNormal, reason, action, note}
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databasebackups/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// report tells what was done and writes the status where it changed. After a conflict the view is old: the next
// pass reports. Without our finalizer a backup that is being deleted may be gone.
func (r *Reconciler) report(ctx context.Context, backup *dbv1.DatabaseBackup, todo plan.Plan, done []happening, actErr error) error {
	r.tell(backup, done)
	if apierrors.IsConflict(actErr) || backup.DeletionTimestamp != nil && !plan.Held(backup) {
		return nil
	}
	after := backup.DeepCopy()
	after.Status = plan.StatusOf(backup, todo, actErr, metav1.NewTime(r.Clock.Now()))
	if equality.Semantic.DeepEqual(backup.Status, after.Status) {
		return nil
	}
	// Locked on the version that was read: a status made from an older view never replaces a newer one.
	patch := client.MergeFromWithOptions(backup, client.MergeFromWithOptimisticLock{})
	if err := r.Writer.Client.Status().Patch(ctx, after.DeepCopy(), patch, client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	r.tell(backup, append(troubles(backup, todo), turns(backup, after)...))
	return nil
}

// maxNote is what the API server takes of an event's note, in bytes.
const maxNote = 1024

func (r *Reconciler) tell(backup *dbv1.DatabaseBackup, happenings []happening) {
	for _, h := range happenings {
		note := h.note
		if len(note) > maxNote {
			note = strings.ToValidUTF8(note[:maxNote-len("…")], "") + "…"
		}
		r.Events.Eventf(backup, nil, h.kind, h.reason, h.action, "%s", note)
	}
}

// told are the conditions whose turns people should hear of, and how.
var told = []struct {
	condition string
	status    metav1.ConditionStatus
	kind      string
}{
	{dbv1.ConditionReady, metav1.ConditionTrue, corev1.EventTypeNormal},
	{dbv1.ConditionStalled, metav1.ConditionTrue, corev1.EventTypeWarning},
	{dbv1.ConditionVerified, metav1.ConditionTrue, corev1.EventTypeNormal},
	{dbv1.ConditionVerified, metav1.ConditionFalse, corev1.EventTypeWarning},
}

// troubles are what keeps a Job from its work, when that was not told before: its deadline may be far away.
func troubles(before *dbv1.DatabaseBackup, todo plan.Plan) []happening {
	said := []string{before.Status.Message}
	if v := before.Status.Verification; v != nil {
		said = append(said, v.Message)
	}
	if c := meta.FindStatusCondition(before.Status.Conditions, dbv1.ConditionDeletionBlocked); c != nil {
		said = append(said, c.Message)
	}
	told := func(text string) bool { return strings.HasPrefix(text, todo.Trouble) }
	if todo.Trouble == "" || slices.ContainsFunc(said, told) {
		return nil
	}
	return []happening{{corev1.EventTypeWarning, "TriedAgain", "Report", todo.Trouble}}
}

// turns are the conditions that turned in this pass, or are so for another reason than before.
func turns(before, after *dbv1.DatabaseBackup) []happening {
	var all []happening
	for _, t := range told {
		was := meta.FindStatusCondition(before.Status.Conditions, t.condition)
		is := meta.FindStatusCondition(after.Status.Conditions, t.condition)
		if is != nil && is.Status == t.status && (was == nil || was.Status != is.Status || was.Reason != is.Reason) {
			all = append(all, happening{t.kind, is.Reason, "Report", is.Message})
		}
	}
	return all
}
