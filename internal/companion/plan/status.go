/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/status"
	"github.com/dbcluster/databasecluster-operator/internal/subject"
)

// StatusOf is the status after a pass: from the plan, and the error of its execution.
func StatusOf(companion *dbv1.DatabaseCompanion, seen CompanionFacts, p CompanionPlan, err error,
	now metav1.Time) dbv1.DatabaseCompanionStatus {
	s := *companion.Status.DeepCopy()
	if companion.DeletionTimestamp != nil { // nothing was read
		ready := subject.Condition(dbv1.ConditionReady, false, p.reason, p.message)
		ready.ObservedGeneration, ready.LastTransitionTime = companion.Generation, now
		meta.SetStatusCondition(&s.Conditions, ready)
		s.ObservedGeneration = companion.Generation
		return s
	}
	s.ObservedGeneration, s.Image = companion.Generation, cmp.Or(p.image, s.Image)
	s.Selector = k8slabels.SelectorFromSet(selector(companion)).String()
	s.Replicas, s.ReadyReplicas = 0, 0
	if d := seen.Deployment; d != nil {
		s.Replicas, s.ReadyReplicas = d.Status.Replicas, d.Status.ReadyReplicas
	}
	s.Deployment = objects.Written(s.Deployment, seen.Deployment)
	v := p.verdict
	if refused := status.Refusal(err); refused != nil {
		v.ready, v.stalled, v.reason, v.message = false, true, refused.Reason, refused.Message
	}
	for _, c := range append(conditions(v), eviction(seen)) {
		c.ObservedGeneration, c.LastTransitionTime = companion.Generation, now
		meta.SetStatusCondition(&s.Conditions, c)
	}
	return s
}

func conditions(v verdict) []metav1.Condition {
	available := subject.Condition(dbv1.ConditionAvailable, v.available, dbv1.ReasonPodReady, "a pod is ready")
	if !v.available {
		available = subject.Condition(dbv1.ConditionAvailable, false, dbv1.ReasonNoPodReady, "no pod is ready: "+v.message)
	}
	stalled := subject.Condition(dbv1.ConditionStalled, false, dbv1.ReasonNotStalled, "no action required")
	if v.stalled {
		stalled = subject.Condition(dbv1.ConditionStalled, true, v.reason, v.message)
	}
	return []metav1.Condition{subject.Condition(dbv1.ConditionReady, v.ready, v.reason, v.message), available, stalled}
}

// eviction reports PodDisruptionBudgets of others, with which no node that has a pod of the companion can be drained.
func eviction(seen CompanionFacts) metav1.Condition {
	if len(seen.OtherBudgets) > 0 {
		return status.SeveralBudgets("pod of the companion", seen.OtherBudgets)
	}
	return subject.Condition(dbv1.ConditionEvictionBlocked, false, dbv1.ReasonOneBudget,
		"only the PodDisruptionBudget of the operator selects the pods")
}

// Transitions are the changes of conditions that are events.
var Transitions = []operation.Transition{
	{Condition: dbv1.ConditionReady, Status: metav1.ConditionTrue, Type: corev1.EventTypeNormal, Action: "Report"},
	{Condition: dbv1.ConditionAvailable, Status: metav1.ConditionFalse, Type: corev1.EventTypeWarning, Action: "Report"},
	{Condition: dbv1.ConditionStalled, Status: metav1.ConditionTrue, Type: corev1.EventTypeWarning, Action: "Report"},
	{Condition: dbv1.ConditionEvictionBlocked, Status: metav1.ConditionTrue, Type: corev1.EventTypeWarning, Action: "Report"},
}
