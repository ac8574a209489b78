/*
SPDX-License-Identifier: Apache-2.0
*/

// Package kit is the common part of all reconcilers: a pass, reading, watching, executing operations, events and
// the status. A new kind of object needs its facts, a plan, and an implementation of each operation.
package kit

import (
	"time"

	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

// ConflictDelay lets the caches catch up with a change.
const ConflictDelay = 200 * time.Millisecond

// Base is what every reconciler needs. It keeps no state between passes.
type Base struct {
	// Cached reads from memory, Live from the API server.
	Cached, Live client.Reader
	Writer       apply.Writer
	// Writes are the writes of previous passes, which the cache has to show first. The Writer records them there. Nil to not wait.
	Writes *Writes
	Events events.EventRecorder
	Clock  clock.PassiveClock
	// Logs are nil where no log can be read.
	Logs jobs.Logs
	// Indexed is true once the cache has the indexes of the reconciler.
	Indexed bool
}

// Common is the base of a reconciler that embeds it.
func (b *Base) Common() *Base { return b }

// Reconciler reconciles one kind of object.
type Reconciler interface {
	reconcile.Reconciler
	// Controller declares the changes that start a pass.
	Controller() Controller
	// Common is the base, which the reconciler embeds.
	Common() *Base
}

// Cache is the view of the cache only.
func (b *Base) Cache() View { return View{Reader: b.Cached, Indexed: b.Indexed} }

// API is the view of the API server.
func (b *Base) API() View { return View{Reader: b.Live} }
