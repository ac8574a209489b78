/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// ErrDeleted says that the object of a pass no longer exists.
var ErrDeleted = errors.New("the object no longer exists")

// Plan is what a pass does.
type Plan interface {
	// Work returns the operations in the order of execution, and what they are for.
	Work() (all operation.List, why string)
	// LiveRead reports whether the plan has to be decided from the API server itself.
	LiveRead() bool
}

// Pass is one pass for an object: what was read, what was decided, and how that went.
type Pass[O client.Object, F any, P Plan] struct {
	Object O
	Facts  F
	Plan   P
	// Err is what went wrong while the plan was executed; nil for nothing.
	Err error
}

// Kind is what a pass has to know of a kind of object.
type Kind[O client.Object, F any, P Plan] interface {
	// Observe reads an object and its facts, from a cache or live. The error is ErrDeleted where the object no longer exists.
	Observe(ctx context.Context, live bool, key client.ObjectKey) (O, F, error)
	// Deleted cleans up after an object that no longer exists.
	Deleted(ctx context.Context, key client.ObjectKey) error
	// Decide returns what to do. It is a pure function.
	Decide(object O, facts F) P
	// Execute executes one operation of a plan.
	Execute(ctx context.Context, pass *Pass[O, F, P], o operation.Operation) ([]Event, error)
	// Report returns the object with its status after a pass, and the events about what has changed in it. It is false where
	// there is nothing left to write to.
	Report(pass Pass[O, F, P]) (O, []Event, bool)
	// RequeueAfter is when to look again after a pass; 0 for not before something changes. It is false where the error of the
	// pass is left to the back-off.
	RequeueAfter(pass Pass[O, F, P]) (time.Duration, bool)
}

// Reconcile makes one pass: observe, decide, act, report.
func Reconcile[O client.Object, F any, P Plan](ctx context.Context, b Base, kind Kind[O, F, P], key client.ObjectKey) (ctrl.Result, error) {
	// Observe and decide. What a stale cache must not lead to is decided again from the API server itself. What could not be
	// read is not taken for absent.
	pass, err := look(ctx, kind, false, key)
	if errors.Is(err, ErrDeleted) {
		return ctrl.Result{}, kind.Deleted(ctx, key)
	}
	if err == nil && pass.Plan.LiveRead() {
		pass, err = look(ctx, kind, true, key)
	}
	if err != nil {
		return ctrl.Result{}, unlessGone(err)
	}

	// Act: the operations in their order.
	var done []Event
	done, pass.Err = Execute(ctx, pass.Plan, func(ctx context.Context, o operation.Operation) ([]Event, error) {
		return kind.Execute(ctx, &pass, o)
	})

	// Report: always, also after an error.
	b.Tell(pass.Object, done)
	return requeue(ctx, kind, pass, report(ctx, b, kind, pass))
}

func look[O client.Object, F any, P Plan](ctx context.Context, kind Kind[O, F, P], live bool, key client.ObjectKey) (Pass[O, F, P], error) {
	object, facts, err := kind.Observe(ctx, live, key)
	if err != nil {
		return Pass[O, F, P]{}, err
	}
	return Pass[O, F, P]{Object: object, Facts: facts, Plan: kind.Decide(object, facts)}, nil
}

// unlessGone is the error of a live read; an object that no longer exists since the cache was read is none.
func unlessGone(err error) error {
	if errors.Is(err, ErrDeleted) {
		return nil
	}
	return err
}

// report writes the status where it has changed. After a conflict the view is stale: the next pass reports.
func report[O client.Object, F any, P Plan](ctx context.Context, b Base, kind Kind[O, F, P], pass Pass[O, F, P]) error {
	if apierrors.IsConflict(pass.Err) {
		return nil
	}
	after, news, exists := kind.Report(pass)
	if !exists || equality.Semantic.DeepEqual(pass.Object, after) {
		return nil
	}
	// Locked on the version that was read: a status made from an older view never replaces a newer one.
	patch := client.MergeFromWithOptions(pass.Object, client.MergeFromWithOptimisticLock{})
	if err := b.Writer.Client.Status().Patch(ctx, after, patch, client.FieldOwner(dbv1.FieldOwner)); err != nil {
		return fmt.Errorf("write the status: %w", err)
	}
	b.Tell(pass.Object, news)
	return nil
}

// requeue says when to look again. What a human has to correct is looked at now and then.
func requeue[O client.Object, F any, P Plan](ctx context.Context, kind Kind[O, F, P], pass Pass[O, F, P], reportErr error) (ctrl.Result, error) {
	after, handled := kind.RequeueAfter(pass)
	switch err := errors.Join(pass.Err, reportErr); {
	case reportErr == nil && handled:
		return ctrl.Result{RequeueAfter: after}, nil
	case apierrors.IsConflict(err):
		logf.FromContext(ctx).V(1).Info("looking again: something changed meanwhile")
		return ctrl.Result{RequeueAfter: ConflictDelay}, nil
	default:
		return ctrl.Result{}, err
	}
}
