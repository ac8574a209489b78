/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"fmt"
	"time"
)

// Agenda is what a pass does, for any kind of object. The plan of a kind embeds it.
type Agenda struct {
	// Operations are what the pass does, in the order of execution.
	Operations List
	// Why is the current action of the pass, or what it waits for, as a message.
	Why string
	// RequeueAfter is the delay until the next pass without a change; 0 to wait for a change.
	RequeueAfter time.Duration
}

// Work returns what the pass does.
func (t Agenda) Work() Agenda { return t }

// LiveRead reports whether an operation must be decided by a live read from the API server.
func (t Agenda) LiveRead() bool { return t.Operations.Need(LiveRead) }

// ForeignError reports that an object of another owner has a required name.
type ForeignError struct {
	Kind, Name string
	// For is the kind of the object that needs the name.
	For string
}

func (e ForeignError) Error() string {
	return fmt.Sprintf("%s %s exists but does not belong to this %s: delete it", e.Kind, e.Name, e.For)
}
