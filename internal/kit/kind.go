/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Kind is a kind of object: what a pass reads, decides and reports. A kind that needs more also implements the interfaces below.
type Kind[O client.Object, F any, P Plan] interface {
	// Observe reads the facts of an object, from the cache or from the API server.
	Observe(ctx context.Context, object O, from Reading) (F, error)
	// Decide returns what to do. It is a pure function.
	Decide(object O, facts F) P
	// Report returns the object with its status after a pass, and the events about changes. To write nothing, it returns the object of the
	// pass.
	Report(pass Pass[O, F, P]) (O, []Event)
}

// Plan is what a pass does. A plan that embeds operation.Agenda has both methods.
type Plan interface {
	// Work returns the operations, their reason, and the delay until the next pass.
	Work() operation.Agenda
	// LiveRead reports whether the plan must be decided by a live read from the API server.
	LiveRead() bool
}

// Executor is a kind with operations.
type Executor[O client.Object, F any, P Plan] interface {
	// Execute executes one operation of a plan.
	Execute(ctx context.Context, pass *Pass[O, F, P], o operation.Operation) ([]Event, error)
}

func execute[O client.Object, F any, P Plan](ctx context.Context, kind Kind[O, F, P], pass *Pass[O, F, P],
	o operation.Operation) ([]Event, error) {
	if k, is := kind.(Executor[O, F, P]); is {
		return k.Execute(ctx, pass, o)
	}
	return nil, fmt.Errorf("unknown operation %T", o)
}

// Cleaner is a kind whose objects leave something behind that the garbage collector does not delete.
type Cleaner interface {
	// Deleted cleans up after an object that no longer exists.
	Deleted(ctx context.Context, key client.ObjectKey) error
}

func deleted(ctx context.Context, kind any, key client.ObjectKey) error {
	if k, is := kind.(Cleaner); is {
		return k.Deleted(ctx, key)
	}
	return nil
}

// Deferrable is a kind whose status changes often. The status of other kinds is written at once.
type Deferrable[O client.Object] interface {
	// Deferrable reports whether a change of the status may wait for the next one.
	Deferrable(before, after O) bool
}

func deferrable[O client.Object](kind any, before, after O) bool {
	k, is := kind.(Deferrable[O])
	return is && k.Deferrable(before, after)
}

// Ignorable is a kind with a status that decisions do not read. Every change of the status of another kind starts a pass.
type Ignorable[O client.Object] interface {
	// Ignorable reports whether no decision depends on a change of the status. Then the change starts no pass.
	Ignorable(before, after O) bool
}

func ignorable[O client.Object](kind any, before, after O) bool {
	k, is := kind.(Ignorable[O])
	return is && k.Ignorable(before, after)
}

// Requeuer is a kind that does not only depend on its plan for the time of the next pass.
type Requeuer[O client.Object, F any, P Plan] interface {
	// RequeueAfter returns the delay until the next pass; 0 to wait for a change. It returns false if the rate limiter
	// handles the error of the pass.
	RequeueAfter(pass Pass[O, F, P]) (time.Duration, bool)
}

// ForeignDelay is the delay until a name conflict is checked again: objects of other owners are not watched.
const ForeignDelay = 30 * time.Second

func requeueAfter[O client.Object, F any, P Plan](kind Kind[O, F, P], pass Pass[O, F, P]) (time.Duration, bool) {
	if k, is := kind.(Requeuer[O, F, P]); is {
		return k.RequeueAfter(pass)
	}
	if errors.As(pass.Err, new(operation.ForeignError)) {
		return ForeignDelay, true
	}
	return pass.Plan.Work().RequeueAfter, pass.Err == nil
}
