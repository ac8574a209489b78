/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import corev1 "k8s.io/api/core/v1"

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
