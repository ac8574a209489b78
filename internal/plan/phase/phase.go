/*
SPDX-License-Identifier: Apache-2.0
*/

// Package phase orders decisions as a list of named phases. The first phase that has operations, or waits, decides for the pass.
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

// Outcome is the result of a phase: operations, or a reason to wait. Without a Reason the phase is finished or not applicable.
type Outcome struct {
	Operations operation.List
	// Reason and Message become those of the condition Progressing.
	Reason, Message string
	// Stalled is the cause for which the user must act; nil to use the situation's.
	Stalled *situation.Stall
	// RequeueAfter is the time after which this changes without an event; 0 for never.
	RequeueAfter time.Duration
	// Hooks are the states of the deletion hooks; nil while the cluster is not being deleted.
	Hooks []dbv1.HookStatus
}

// Over is the outcome of a phase that has nothing to do.
var Over = Outcome{}

// Wait is the outcome of a phase that waits.
func Wait(reason, message string) Outcome { return Outcome{Reason: reason, Message: message} }

// Do is the outcome of a phase that executes operations.
func Do(reason, message string, all ...operation.Operation) Outcome {
	return Outcome{Reason: reason, Message: message, Operations: all}
}

// Waits reports whether later phases have to wait for this one.
func (o Outcome) Waits() bool { return o.Reason != "" }

// First returns the outcome of the first phase that has operations or waits.
func First(all []Phase, s *situation.Situation) Outcome {
	for _, p := range all {
		if outcome := p.Decide(s); outcome.Waits() {
			return outcome
		}
	}
	return Over
}
