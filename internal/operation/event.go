/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Event is an event for users.
type Event struct {
	Type, Reason, Action, Note string
}

// Normal is an event about a success.
func Normal(reason, action, note string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Action: action, Note: note}
}

// Warning is an event about a problem.
func Warning(reason, action, note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Note: note}
}

// Transition is a change of a condition to a status and a reason (any reason if it is empty), and the event about
// it.
type Transition struct {
	Condition string
	Status    metav1.ConditionStatus
	Reason    string
	// Type and Action are the type and action of the event.
	Type, Action string
}

// Reported is such a change. The action contains the condition, because Kubernetes counts events with the same reason and action as one
// event with one note.
func Reported(condition string, is metav1.ConditionStatus, reason, kind string) Transition {
	return Transition{Condition: condition, Status: is, Reason: reason, Type: kind, Action: "Report" + condition}
}
