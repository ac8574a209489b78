/*
SPDX-License-Identifier: Apache-2.0
*/

// Package kit is the common part of all reconcilers: a pass, reading, watching, executing operations, events and
// the status. A new kind of object needs its facts, a plan, and an implementation of each operation.
package kit

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/apply"
)

// ConflictDelay lets the caches catch up with a change.
const ConflictDelay = 200 * time.Millisecond

// Logs reads information about Jobs and pods that is not in their status.
type Logs interface {
	// Tail is the end of the log of one container.
	Tail(ctx context.Context, namespace, pod, container string) (string, error)
	// Refusal is the reason why the newest pod of a Job could not be created; "" if it could.
	Refusal(ctx context.Context, namespace string, job types.UID) (string, error)
	// Unready is the newest message of the kubelet about a pod that is not ready; "" for none.
	Unready(ctx context.Context, namespace string, pod types.UID) (string, error)
}

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
	Logs Logs
	// Indexed is true once the cache has the indexes of the reconciler.
	Indexed bool
}

// Cache is the view of the cache only.
func (b Base) Cache() View { return View{Reader: b.Cached, Indexed: b.Indexed} }

// API is the view of the API server.
func (b Base) API() View { return View{Reader: b.Live} }
