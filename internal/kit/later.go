/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// BurstDelay is how long a change waits that has companions: members start, and their pods and their StatefulSet change within a moment.
	BurstDelay = 100 * time.Millisecond
	// StatusDelay is how long a change waits that no decision depends on: only numbers and texts of the status show it. Members that start
	// faster, as many do while twenty clusters start at the same time, cost one status.
	StatusDelay = 3 * time.Second
)

// Delay is how long a change of an object waits for others before it starts a pass. The object is nil before its creation, and after
// its deletion.
type Delay func(before, after client.Object) time.Duration

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// debounced lets the changes of a handler wait for others.
type debounced struct {
	handler.EventHandler
	delay Delay
}

// Create handles a new object.
func (l debounced) Create(ctx context.Context, e event.CreateEvent, q queue) {
	l.EventHandler.Create(ctx, e, l.delayed(q, nil, e.Object))
}

// Update handles a changed object.
func (l debounced) Update(ctx context.Context, e event.UpdateEvent, q queue) {
	l.EventHandler.Update(ctx, e, l.delayed(q, e.ObjectOld, e.ObjectNew))
}

// Delete handles a deleted object.
func (l debounced) Delete(ctx context.Context, e event.DeleteEvent, q queue) {
	l.EventHandler.Delete(ctx, e, l.delayed(q, e.Object, nil))
}

// delayed returns a queue that adds items after a delay. An item that is in the queue already comes at the earlier time.
func (l debounced) delayed(q queue, before, after client.Object) queue {
	byPriority, ok := q.(priorityqueue.PriorityQueue[reconcile.Request])
	if !ok || l.delay == nil {
		return q
	}
	return delayedQueue{byPriority, l.delay(before, after)}
}

type delayedQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	delay time.Duration
}

// Add adds an item after the delay.
func (q delayedQueue) Add(item reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, item)
}

// AddWithOpts adds items after the delay, or a longer one.
func (q delayedQueue) AddWithOpts(o priorityqueue.AddOpts, items ...reconcile.Request) {
	o.After = max(o.After, q.delay)
	q.PriorityQueue.AddWithOpts(o, items...)
}
