/*
SPDX-License-Identifier: Apache-2.0
*/

// Package subject is the contract between a cluster and its subjects: what an addition to a cluster, such as its schedules of backups,
// reads, decides, executes and reports. A subject is one directory and one line in the list of package plan. It sees the situation and the
// contract of the engine, but no other subject.
package subject

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/phase"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Subject is one addition to a cluster. Decide is required.
type Subject struct {
	// Read adds the facts of the subject to those of the pass; nil if it needs no others.
	Read Read
	// Decide is a pure function. It is also called while the cluster is being deleted.
	Decide func(*situation.Situation) Decision
	// Transitions are the changes of its conditions that are events.
	Transitions []operation.Transition
	// Watches are the changes of other objects that start a pass.
	Watches
}

// Decision is what a pass does and reports about a subject. The zero value is nothing.
type Decision struct {
	// Operations are executed in the order of the list of subjects.
	Operations operation.List
	// Stalled is the cause for which the user must act; nil if no action is required.
	Stalled *situation.Stall
	// RequeueAfter is the time after which the decision or its report changes without an event; 0 for never.
	RequeueAfter time.Duration
	// Leftovers are objects without an owner that nothing uses: they are deleted when the cluster is up to date, or at the end of its
	// deletion.
	Leftovers []operation.Removal
	// Pending is true if the objects of the subject do not match the spec yet.
	Pending bool
	// Await is what the cluster waits for before it is up to date, and a deletion before anything else; the zero value for nothing.
	Await phase.Outcome
	// Finish is what a deletion does and waits for before its hooks; the zero value for nothing.
	Finish phase.Outcome
	// Refuses is why clients cannot write although the members are ready; "" if they can.
	Refuses string
	// Report writes the part of the status that belongs to the subject, and returns its conditions that apply; nil for none.
	Report Report
}

// Report writes a part of a status after the operations of the pass, and returns conditions to set. A condition that no longer
// applies is removed from the status there.
type Report func(Executed, *dbv1.DatabaseClusterStatus) []metav1.Condition

// Executed is what is known at the end of a pass.
type Executed struct {
	// Operations are those of the pass, of all subjects.
	Operations operation.List
	// Stalled is the cause that the cluster reports; nil for none.
	Stalled *situation.Stall
	// Err is the error of their execution, Optional that of optional ones, and RefusedDecision is as in operation.Errors; nil for none.
	Err, Optional, RefusedDecision error
}

// Condition is a condition that is True or False. The pass adds its generation and its time.
func Condition(kind string, is bool, reason, message string) metav1.Condition {
	c := metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}
	if is {
		c.Status = metav1.ConditionTrue
	}
	return c
}
