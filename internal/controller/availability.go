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

const reportAvailable = "Report" + dbv1.ConditionAvailable

// lost are the reasons of Available with which clients have lost the database. Independent members serve as long as one is ready.
var lost = []string{dbv1.ReasonNoPrimary, dbv1.ReasonNoMajority, dbv1.ReasonWritesRefused, dbv1.ReasonReplicasNotReady}

// availability are the events when clients lose the database, when the cause is known, and when they have it back. The first members of a
// cluster are no event.
func availability(before, after *dbv1.DatabaseCluster) []kit.Event {
	was := meta.FindStatusCondition(before.Status.Conditions, dbv1.ConditionAvailable)
	is := meta.FindStatusCondition(after.Status.Conditions, dbv1.ConditionAvailable)
	switch {
	case was == nil, was.Status == is.Status && !becomesClear(was, is):
		return nil
	case is.Status == metav1.ConditionFalse && isLost(after, is):
		return []kit.Event{{Type: corev1.EventTypeWarning, Reason: is.Reason, Action: reportAvailable, Note: is.Message}}
	case is.Status == metav1.ConditionTrue && isLost(before, was) && everChanged(before.Status.Conditions, was):
		return []kit.Event{{Type: corev1.EventTypeNormal, Reason: is.Reason, Action: reportAvailable, Note: is.Message}}
	default:
		return nil
	}
}

// becomesClear reports whether a member has reported why the database takes no writes, after clients lost it.
func becomesClear(was, is *metav1.Condition) bool {
	return was.Reason != dbv1.ReasonWritesRefused && is.Reason == dbv1.ReasonWritesRefused
}

// isLost reports whether clients have lost the database, and not only some of its members.
func isLost(cluster *dbv1.DatabaseCluster, unavailable *metav1.Condition) bool {
	return slices.Contains(lost, unavailable.Reason) &&
		(unavailable.Reason != dbv1.ReasonReplicasNotReady || cluster.Status.ReadyReplicas == 0)
}

// everChanged reports whether a condition has changed since the first status, whose time the oldest condition has.
func everChanged(all []metav1.Condition, condition *metav1.Condition) bool {
	return slices.ContainsFunc(all, func(c metav1.Condition) bool { return c.LastTransitionTime.Before(&condition.LastTransitionTime) })
}
