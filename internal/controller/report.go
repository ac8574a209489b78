/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// happening is something that happened, for people; it becomes an event.
type happening struct {
	kind, reason, action, note string
}

func normal(reason, action, note string) happening {
	return happening{corev1.EventTypeNormal, reason, action, note}
}

func warning(reason, action, note string) happening {
	return happening{corev1.EventTypeWarning, reason, action, note}
}

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// report tells what was done and writes the status where it changed. After a conflict the view is old:
// the next pass reports. After the finalizer went there is nothing left to write to.
func (r *Reconciler) report(ctx context.Context, pass status.Pass, done []happening) error {
	cluster := pass.Declared
	r.tell(cluster, done)
	if _, last := operation.Find[operation.Finalize](pass.Plan.Operations); apierrors.IsConflict(pass.Err) || last && pass.Err == nil {
		return nil
	}
	after := cluster.DeepCopy()
	after.Status = status.Of(pass, metav1.NewTime(r.Clock.Now()))
	if err := r.writeStatus(ctx, cluster, after); err != nil {
		return err
	}
	r.tell(cluster, append(turns(cluster, after), hookTurns(cluster, after)...))
	return nil
}

// maxNote is what the API server takes of an event's note, in bytes.
const maxNote = 1024

func (r *Reconciler) tell(cluster *dbv1.DatabaseCluster, happenings []happening) {
	for _, h := range happenings {
		r.Events.Eventf(cluster, nil, h.kind, h.reason, h.action, "%s", cut(h.note))
	}
}

// cut shortens a note that the API server would refuse, at a whole character.
func cut(note string) string {
	if len(note) <= maxNote {
		return note
	}
	return strings.ToValidUTF8(note[:maxNote-len("…")], "") + "…"
}

// writeStatus locks on the version that was read: a status made from an older view never replaces a
// newer one.
func (r *Reconciler) writeStatus(ctx context.Context, before, after *dbv1.DatabaseCluster) error {
	if equality.Semantic.DeepEqual(before.Status, after.Status) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := r.Writer.Client.Status().Patch(ctx, after.DeepCopy(), patch, client.FieldOwner(dbv1.FieldOwner))
	if err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	return nil
}

// turn is a condition that comes to have a status, for whatever reason where none is given.
type turn struct {
	kind   string
	status metav1.ConditionStatus
	reason string
}

// toldTurns are those that people should hear of, and how.
var toldTurns = map[turn]string{
	{dbv1.ConditionReady, metav1.ConditionTrue, ""}:                               corev1.EventTypeNormal,
	{dbv1.ConditionProgressing, metav1.ConditionTrue, dbv1.ReasonRestoreRetrying}: corev1.EventTypeWarning,
	{dbv1.ConditionProtectionEnforced, metav1.ConditionFalse, ""}:                 corev1.EventTypeWarning,
	{dbv1.ConditionDegraded, metav1.ConditionTrue, ""}:                            corev1.EventTypeWarning,
	{dbv1.ConditionStalled, metav1.ConditionTrue, ""}:                             corev1.EventTypeWarning,
	{dbv1.ConditionBackupHealthy, metav1.ConditionFalse, ""}:                      corev1.EventTypeWarning,
	{dbv1.ConditionBackupVerified, metav1.ConditionFalse, ""}:                     corev1.EventTypeWarning,
}

// turns are the conditions that came to their status in this pass, or have it for another reason than before. The
// condition is in the action, because events with the same reason and action are counted as one, with one note.
func turns(before, after *dbv1.DatabaseCluster) []happening {
	var all []happening
	for _, is := range after.Status.Conditions {
		was := meta.FindStatusCondition(before.Status.Conditions, is.Type)
		news := was == nil || was.Status != is.Status || was.Reason != is.Reason
		kind, tell := toldTurns[turn{is.Type, is.Status, ""}]
		if !tell {
			kind, tell = toldTurns[turn{is.Type, is.Status, is.Reason}]
		}
		if tell && news {
			all = append(all, happening{kind, is.Reason, "Report" + is.Type, is.Message})
		}
	}
	return all
}
