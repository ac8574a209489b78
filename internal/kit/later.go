/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// together is how long a change of another object waits for others before it starts a pass. Changes come together: a member starts, and
// its pod, its volume and its StatefulSet change within a moment.
const together = 50 * time.Millisecond

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// later lets the changes of a handler wait for others.
type later struct{ handler.EventHandler }

// Create handles a new object.
func (l later) Create(ctx context.Context, e event.CreateEvent, q queue) {
	l.EventHandler.Create(ctx, e, delayed(q))
}

// Update handles a changed object.
func (l later) Update(ctx context.Context, e event.UpdateEvent, q queue) {
	l.EventHandler.Update(ctx, e, delayed(q))
}

// Delete handles a deleted object.
func (l later) Delete(ctx context.Context, e event.DeleteEvent, q queue) {
	l.EventHandler.Delete(ctx, e, delayed(q))
}

// delayed returns a queue that adds items after a delay. An item that is in the queue already comes at its own time.
func delayed(q queue) queue {
	if byPriority, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
		return delayedQueue{byPriority}
	}
	return q
}

type delayedQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
}

// Add adds an item after the delay.
func (q delayedQueue) Add(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, item)
}

// AddWithOpts adds items after the delay, or a longer one.
func (q delayedQueue) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	o.After = max(o.After, together)
	q.PriorityQueue.AddWithOpts(o, items...)
}
