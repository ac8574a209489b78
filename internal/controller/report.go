/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// +kubebuilder:rbac:groups=database.dbcluster.io,resources=databaseclusters/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Report returns the cluster with its status after a pass. After the removal of the finalizer there is no object to
// update.
func (r *Reconciler) Report(p pass) (*dbv1.DatabaseCluster, []kit.Event) {
	if p.Plan.Operations.Ends() && p.Err == nil {
		return p.Object, nil
	}
	after := p.Object.DeepCopy()
	after.Status = status.Of(status.PassResult{Situation: p.Facts, Plan: p.Plan, Err: p.Err}, metav1.NewTime(r.Clock.Now()))
	after.Status.StatefulSet = objects.Written(p.Object.Status.StatefulSet, p.Facts.StatefulSet)
	if status.OnlyRecords(&p.Object.Status, &after.Status) {
		after.Status.StatefulSet = p.Object.Status.StatefulSet
	}
	events := kit.Transitions(transitions, p.Object.Status.Conditions, after.Status.Conditions)
	events = append(events, availability(p.Object, after)...)
	events = append(events, hookTransitions(p.Object, after)...)
	return after, append(events, requestEvents(p.Object, after)...)
}

// Deferrable reports whether a change of the status may wait for the next one.
func (r *Reconciler) Deferrable(before, after *dbv1.DatabaseCluster) bool {
	return status.Deferrable(&before.Status, &after.Status)
}

// Ignorable reports whether no decision depends on a change of the status.
func (r *Reconciler) Ignorable(before, after *dbv1.DatabaseCluster) bool {
	return status.Ignorable(&before.Status, &after.Status)
}

// transitions are the conditions whose changes are events: of the cluster, and of its subjects.
var transitions = append([]operation.Transition{
	operation.Reported(dbv1.ConditionReady, metav1.ConditionTrue, "", corev1.EventTypeNormal),
	operation.Reported(dbv1.ConditionProgressing, metav1.ConditionTrue, dbv1.ReasonRestoreRetrying, corev1.EventTypeWarning),
	operation.Reported(dbv1.ConditionProgressing, metav1.ConditionTrue, dbv1.ReasonInitializeRetrying, corev1.EventTypeWarning),
	operation.Reported(dbv1.ConditionDegraded, metav1.ConditionTrue, "", corev1.EventTypeWarning),
	operation.Reported(dbv1.ConditionStalled, metav1.ConditionTrue, "", corev1.EventTypeWarning),
	operation.Reported(dbv1.ConditionEvictionBlocked, metav1.ConditionTrue, "", corev1.EventTypeWarning),
}, plan.Transitions()...)
