/*
SPDX-License-Identifier: Apache-2.0
*/

// Package phase orders decisions: a list of named phases, of which the first that has something to do, or something to
// wait for, speaks for the pass.
package phase

import (
	"time"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
	"github.com/dbcluster/databasecluster-operator/internal/plan/situation"
)

// Phase is one part of the life of a cluster. Decide is a pure function.
type Phase struct {
	Name   string
	Decide func(*situation.Situation) Outcome
}

// Outcome is what a phase does or waits for. Without a Reason the phase is over, or has not come.
type Outcome struct {
	Operations operation.List
	// Reason and Message become those of the condition Progressing.
	Reason, Message string
	// Stalled is what only a human can change; nil for what the situation says.
	Stalled *situation.Stall
	// RequeueAfter is when time alone changes this; 0 for never.
	RequeueAfter time.Duration
	// Hooks are how the deletion hooks stand; nil while the cluster is not being deleted.
	Hooks []dbv1.HookStatus
}

// Over is the outcome of a phase that has nothing to do.
var Over = Outcome{}

// Wait is the outcome of a phase that waits.
func Wait(reason, message string) Outcome { return Outcome{Reason: reason, Message: message} }

// Do is the outcome of a phase that does something.
func Do(reason, message string, all ...operation.Operation) Outcome {
	return Outcome{Reason: reason, Message: message, Operations: all}
}

// Waits tells whether the phases after this one have to wait for it.
func (o Outcome) Waits() bool { return o.Reason != "" }

// First is the outcome of the first phase that has something to do or to wait for.
func First(all []Phase, s *situation.Situation) Outcome {
	for _, p := range all {
		if outcome := p.Decide(s); outcome.Waits() {
			return outcome
		}
	}
	return Over
}
