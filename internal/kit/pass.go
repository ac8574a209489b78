/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"cmp"
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// errDeleted reports that the object of a pass no longer exists.
var errDeleted = errors.New("the object no longer exists")

// Pass is one reconciliation of an object: the observed facts, the plan, and the result.
type Pass[O client.Object, F any, P Plan] struct {
	Object O
	Facts  F
	// Live is true if the facts are of a live read.
	Live bool
	Plan P
	// Err is the error of the execution; nil for none.
	Err error
}

// Reconcile runs one pass: observe, decide, act, report.
func Reconcile[T any, O objectOf[T], F any, P Plan](ctx context.Context, b *Base, kind Kind[O, F, P],
	key client.ObjectKey) (ctrl.Result, error) {
	// Wait for the cache: it must show what the previous pass has written.
	if !b.Writes.shown(ctx, key) {
		return ctrl.Result{RequeueAfter: catchUpDelay}, nil
	}
	ctx = b.Writes.during(ctx, key)

	// Observe and decide. If a decision is unsafe on a stale cache, the pass decides again after a live read. A failed
	// read does not mean that an object is absent.
	pass, err := look(ctx, b, kind, false, key)
	if errors.Is(err, errDeleted) {
		b.Writes.forget(key)
		return ctrl.Result{}, deleted(ctx, kind, key)
	}
	if err == nil && pass.Plan.LiveRead() {
		pass, err = look(ctx, b, kind, true, key)
	}
	if err != nil {
		return ctrl.Result{}, ignoreDeleted(err)
	}

	// Act: execute the operations in their order. If the name of a new object is taken, the cache lags behind, or the object has
	// another owner: the pass decides again after a live read.
	done := act(ctx, kind, &pass)
	if apierrors.IsAlreadyExists(pass.Err) {
		if pass, err = look(ctx, b, kind, true, key); err != nil {
			return ctrl.Result{}, ignoreDeleted(err)
		}
		done = append(done, act(ctx, kind, &pass)...)
	}

	// Report: always, also after an error.
	b.Tell(pass.Object, done)
	wait, err := report(ctx, b, kind, pass)
	if b.Writes.looks(key) && (wait == 0 || wait > lookAgain) { // a Secret, for example: nothing else starts the pass that reports its effect
		wait = lookAgain
	}
	return requeue(ctx, kind, pass, wait, err)
}

// objectOf is a kind of object with the type T.
type objectOf[T any] interface {
	*T
	client.Object
}

func look[T any, O objectOf[T], F any, P Plan](ctx context.Context, b *Base, kind Kind[O, F, P], live bool,
	key client.ObjectKey) (Pass[O, F, P], error) {
	object := O(new(T))
	from := b.Reading(object, live)
	if found, err := from.View.Find(ctx, key, object); err != nil || !found {
		return Pass[O, F, P]{}, cmp.Or(err, errDeleted)
	}
	facts, err := kind.Observe(ctx, object, from)
	if err != nil {
		return Pass[O, F, P]{}, err
	}
	return Pass[O, F, P]{Object: object, Facts: facts, Live: live, Plan: kind.Decide(object, facts)}, nil
}

// act executes the operations of a plan in their order, and returns the events.
func act[O client.Object, F any, P Plan](ctx context.Context, kind Kind[O, F, P], pass *Pass[O, F, P]) (done []Event) {
	done, pass.Err = Execute(ctx, pass.Plan, pass.Live, func(ctx context.Context, o operation.Operation) ([]Event, error) {
		return execute(ctx, kind, pass, o)
	})
	return done
}

// ignoreDeleted returns the error of a live read, except if the object no longer exists since the read from the cache.
func ignoreDeleted(err error) error {
	if errors.Is(err, errDeleted) {
		return nil
	}
	return err
}

// report writes the status if it has changed. It returns the time until the next pass, if a change still waits for others. After a
// conflict the view is stale: the next pass reports.
func report[O client.Object, F any, P Plan](ctx context.Context, b *Base, kind Kind[O, F, P],
	pass Pass[O, F, P]) (wait time.Duration, err error) {
	if apierrors.IsConflict(pass.Err) {
		return 0, nil
	}
	after, events := kind.Report(pass)
	changed := !equality.Semantic.DeepEqual(pass.Object, after)
	if wait := b.Writes.wait(client.ObjectKeyFromObject(pass.Object),
		changed && pass.Err == nil && deferrable(kind, pass.Object, after)); wait > 0 || !changed {
		return wait, nil
	}
	// The patch is locked on the observed version: a status from an older view never replaces a newer one.
	next, err := b.writeStatus(ctx, pass.Object, after, ignorable(kind, pass.Object, after))
	if err == nil {
		b.Tell(pass.Object, events)
	}
	return next, err
}

// requeue returns the delay until the next pass. Problems that the user must correct are checked regularly.
func requeue[O client.Object, F any, P Plan](ctx context.Context, kind Kind[O, F, P], pass Pass[O, F, P], wait time.Duration,
	reportErr error) (ctrl.Result, error) {
	after, handled := requeueAfter(kind, pass)
	if wait > 0 && (after == 0 || wait < after) {
		after = wait
	}
	switch err := errors.Join(pass.Err, reportErr); {
	case wait == atOnce: // an update has arrived meanwhile, which may correct the cause of an error
		if err != nil && !apierrors.IsConflict(err) {
			logf.FromContext(ctx).Error(err, "the pass failed, and its object has changed meanwhile")
		}
		return ctrl.Result{RequeueAfter: atOnce, Priority: new(int)}, nil
	case reportErr == nil && handled:
		return ctrl.Result{RequeueAfter: after}, nil
	case apierrors.IsConflict(err):
		logf.FromContext(ctx).V(1).Info("requeueing: an object changed during the pass")
		return ctrl.Result{RequeueAfter: ConflictDelay}, nil
	default:
		return ctrl.Result{}, err
	}
}
