/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// MaxNote is the API server's limit for an event's note, in bytes.
const MaxNote = 1024

// Event is an event for users.
type Event = operation.Event

// Normal is an event about a success.
func Normal(reason, action, note string) Event { return operation.Normal(reason, action, note) }

// Warning is an event about a problem.
func Warning(reason, action, note string) Event { return operation.Warning(reason, action, note) }

// About is an event about objects whose names follow the note; none without objects. Kubernetes counts events with
// the same reason and action about one object as one event with one note. So a pass records all objects in one
// event.
func About[T fmt.Stringer](all []T, separator string, e Event) []Event {
	if len(all) == 0 {
		return nil
	}
	texts := make([]string, 0, len(all))
	for _, one := range all {
		texts = append(texts, one.String())
	}
	e.Note += strings.Join(texts, separator)
	return []Event{e}
}

// text is the note, cut to what the API server accepts.
func text(e Event) string {
	if len(e.Note) <= MaxNote {
		return e.Note
	}
	return strings.ToValidUTF8(e.Note[:MaxNote-len("…")], "") + "…"
}

// Tell records events about an object.
func (b *Base) Tell(object runtime.Object, all []Event) {
	for _, e := range all {
		b.Events.Eventf(object, nil, e.Type, e.Reason, e.Action, "%s", text(e))
	}
}

// Transitions are the events about conditions that changed to their status, or have it for a new reason.
func Transitions(table []operation.Transition, before, after []metav1.Condition) []Event {
	var all []Event
	for _, is := range after {
		was := meta.FindStatusCondition(before, is.Type)
		if was != nil && was.Status == is.Status && was.Reason == is.Reason {
			continue
		}
		matches := func(t operation.Transition) bool {
			return t.Condition == is.Type && t.Status == is.Status && (t.Reason == "" || t.Reason == is.Reason)
		}
		if i := slices.IndexFunc(table, matches); i >= 0 {
			all = append(all, Event{Type: table[i].Type, Reason: is.Reason, Action: table[i].Action, Note: is.Message})
		}
	}
	return all
}
