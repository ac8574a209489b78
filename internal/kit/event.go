/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// MaxNote is what the API server takes of an event's note, in bytes.
const MaxNote = 1024

// Event is something that happened, for people.
type Event struct {
	Type, Reason, Action, Note string
	// Each are the objects that the note is about, after it: events with the same reason and action about one object are
	// counted as one, with one note, so those of one pass are merged.
	Each []string
	// Separator stands between them.
	Separator string
}

// Normal is an event about what went as it should.
func Normal(reason, action, note string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Action: action, Note: note}
}

// Warning is an event about what did not.
func Warning(reason, action, note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Action: action, Note: note}
}

// Of adds an object to the note.
func (e Event) Of(separator, object string) Event {
	e.Each, e.Separator = append(e.Each, object), separator
	return e
}

func (e Event) text() string {
	note := e.Note + strings.Join(e.Each, e.Separator)
	if len(note) <= MaxNote {
		return note
	}
	return strings.ToValidUTF8(note[:MaxNote-len("…")], "") + "…"
}

// Merge makes one event of those that differ in their objects alone, in the place of the first.
func Merge(all []Event) []Event {
	var merged []Event
	for _, e := range all {
		same := func(m Event) bool {
			return len(e.Each) > 0 && m.Type == e.Type && m.Reason == e.Reason && m.Action == e.Action && m.Note == e.Note
		}
		if i := slices.IndexFunc(merged, same); i >= 0 {
			merged[i].Each = append(merged[i].Each, e.Each...)
			continue
		}
		merged = append(merged, e)
	}
	return merged
}

// Tell records events about an object.
func (b Base) Tell(object runtime.Object, all []Event) {
	for _, e := range all {
		b.Events.Eventf(object, nil, e.Type, e.Reason, e.Action, "%s", e.text())
	}
}

// Transition is a condition that comes to have a status and a reason, any where none is given, and the event about it.
type Transition struct {
	Condition string
	Status    metav1.ConditionStatus
	Reason    string
	// Type and Action are those of the event.
	Type, Action string
}

// Transitions are the events about conditions that came to their status, or have it for another reason than before.
func Transitions(table []Transition, before, after []metav1.Condition) []Event {
	var all []Event
	for _, is := range after {
		was := meta.FindStatusCondition(before, is.Type)
		if was != nil && was.Status == is.Status && was.Reason == is.Reason {
			continue
		}
		matches := func(t Transition) bool {
			return t.Condition == is.Type && t.Status == is.Status && (t.Reason == "" || t.Reason == is.Reason)
		}
		if i := slices.IndexFunc(table, matches); i >= 0 {
			all = append(all, Event{Type: table[i].Type, Reason: is.Reason, Action: table[i].Action, Note: is.Message})
		}
	}
	return all
}
