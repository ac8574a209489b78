/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

// lost are the reasons of Available with which clients have lost the database. Independent members serve as long as one is ready.
var lost = []string{dbv1.ReasonNoPrimary, dbv1.ReasonNoMajority, dbv1.ReasonWritesRefused, dbv1.ReasonReplicasNotReady}

// availability are the events when clients lose the database, and when they have it back. The first members of a cluster are no news.
func availability(before, after *dbv1.DatabaseCluster) []kit.Event {
	was := meta.FindStatusCondition(before.Status.Conditions, dbv1.ConditionAvailable)
	is := meta.FindStatusCondition(after.Status.Conditions, dbv1.ConditionAvailable)
	switch {
	case was == nil, was.Status == is.Status:
		return nil
	case is.Status == metav1.ConditionTrue && !everChanged(before.Status.Conditions, was),
		is.Status == metav1.ConditionFalse && !slices.Contains(lost, is.Reason),
		is.Reason == dbv1.ReasonReplicasNotReady && after.Status.ReadyReplicas > 0:
		return nil
	}
	kind := map[bool]string{true: corev1.EventTypeNormal, false: corev1.EventTypeWarning}[is.Status == metav1.ConditionTrue]
	return []kit.Event{{Type: kind, Reason: is.Reason, Action: "Report" + dbv1.ConditionAvailable, Note: is.Message}}
}

// everChanged reports whether a condition has changed since the first status, whose time the oldest condition has.
func everChanged(all []metav1.Condition, condition *metav1.Condition) bool {
	return slices.ContainsFunc(all, func(c metav1.Condition) bool { return c.LastTransitionTime.Before(&condition.LastTransitionTime) })
}
