/*
SPDX-License-Identifier: Apache-2.0
*/

// Package plan decides what every Database and DatabaseUser needs: its finalizer, and its status.
package plan

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/accounts"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
	"github.com/dbcluster/databasecluster-operator/internal/state"
	"github.com/dbcluster/databasecluster-operator/internal/status"
)

// stalledRequeue is the interval for checking an object for which the user must act.
const stalledRequeue = time.Minute

// ObjectPlan is what a pass of a Database or a DatabaseUser does.
type ObjectPlan struct {
	operation.Agenda
	accounts.Verdict
	declared accounts.Declared
}

// For decides what every object needs: the finalizer, while the deletion of the object has to delete it in the database, too.
func For(d accounts.Declared, seen accounts.Seen) ObjectPlan {
	p := ObjectPlan{Verdict: accounts.Judge(d, seen), declared: d}
	p.Why = p.Message
	switch { // no watch shows that an engine is corrected, or that another object of the name is deleted
	case p.Stalled:
		p.RequeueAfter = stalledRequeue
	case !p.Known:
		p.RequeueAfter = situation.MissingRequeue
	}
	switch guarded := state.HasFinalizer(d.Object); {
	case d.Deleting() && guarded && released(d, seen, p.Verdict):
		p.Operations = operation.List{finalizer("remove", true)}
	case !d.Deleting() && guarded != d.Removes() && seen.Cluster != nil:
		p.Operations = operation.List{finalizer(map[bool]string{true: "remove", false: "add"}[guarded], guarded)}
	}
	return p
}

// released reports whether a deletion is complete: the database does not have the object any more, or never will. A cluster that is being
// deleted, or an engine that cannot delete it, must not block a namespace for ever.
func released(d accounts.Declared, seen accounts.Seen, v accounts.Verdict) bool {
	_, unsupported := accounts.Unsupported(d, seen)
	missing := seen.Engine == nil && seen.Cluster != nil && seen.Cluster.DeletionTimestamp == nil && seen.Cluster.Spec.Engine != ""
	return !d.Removes() || unsupported && !missing || v.Known && (v.Ready || v.Stalled)
}

func finalizer(verb string, remove bool) operation.Operation {
	return operation.Finalizer{
		Work: operation.Work{
			Is: operation.Properties{First: true, LiveRead: remove, WhileDeleting: remove}, Text: fmt.Sprintf("%s the finalizer", verb),
		},
		Own: true, Remove: remove,
	}
}

// StatusOf is the common part of the status after a pass.
func (p ObjectPlan) StatusOf(seen accounts.Seen, err error, now metav1.Time) dbv1.DatabaseObjectStatus {
	d := p.declared
	s := *d.Status.DeepCopy()
	s.ObservedGeneration = d.Object.GetGeneration()
	if seen.Cluster != nil && s.ClusterUID != string(seen.Cluster.UID) {
		s.ClusterUID, s.Applied = string(seen.Cluster.UID), ""
	}
	v := p.Verdict
	if v.Applied {
		s.Applied = d.Content()
	}
	if s.Version = ""; v.Known {
		s.Version = d.Version()
	}
	if stall := status.Refusal(err); stall != nil {
		v, s.Version = accounts.Verdict{Stalled: true, Reason: stall.Reason, Message: stall.Message}, ""
	}
	ready := metav1.Condition{Type: dbv1.ConditionReady, Status: metav1.ConditionFalse, Reason: v.Reason, Message: v.Message}
	if v.Ready {
		ready.Status = metav1.ConditionTrue
	}
	stall := metav1.Condition{Type: dbv1.ConditionStalled, Status: metav1.ConditionFalse, Reason: dbv1.ReasonNotStalled}
	stall.Message = "no action required"
	if v.Stalled {
		stall.Status, stall.Reason, stall.Message = metav1.ConditionTrue, v.Reason, v.Message
	}
	for _, c := range []metav1.Condition{ready, stall} {
		c.ObservedGeneration, c.LastTransitionTime = s.ObservedGeneration, now
		meta.SetStatusCondition(&s.Conditions, c)
	}
	return s
}

// Transitions are the changes of conditions that are events.
var Transitions = []operation.Transition{
	{
		Condition: dbv1.ConditionReady, Status: metav1.ConditionTrue, Reason: dbv1.ReasonCreatedAgain, Type: corev1.EventTypeWarning,
		Action: "Report",
	},
	{
		Condition: dbv1.ConditionReady, Status: metav1.ConditionFalse, Reason: dbv1.ReasonObjectDrifted, Type: corev1.EventTypeWarning,
		Action: "Report",
	},
	{Condition: dbv1.ConditionReady, Status: metav1.ConditionTrue, Type: corev1.EventTypeNormal, Action: "Report"},
	{Condition: dbv1.ConditionStalled, Status: metav1.ConditionTrue, Type: corev1.EventTypeWarning, Action: "Report"},
}
