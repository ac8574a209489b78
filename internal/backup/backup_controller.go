/*
SPDX-License-Identifier: Apache-2.0
*/

// Package backup makes, verifies and removes DatabaseBackups: observe, decide, act, report.
package backup

import (
	"context"
	"errors"
	"net/netip"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/backup/plan"
)

// Reconciler brings DatabaseBackups about. It keeps nothing between passes.
type Reconciler struct {
	// Cached reads from memory, Live from the API server.
	Cached, Live client.Reader
	Writer       apply.Writer
	Events       events.EventRecorder
	Clock        clock.PassiveClock
	Logs         Logs
	// TransferImage holds the transfer binary that Jobs run; "" where there are to be none.
	TransferImage string
	// NameServers are those that copies of a verification may ask besides pods of the cluster.
	NameServers []netip.Addr

	indexed bool
}

const (
	// conflictDelay lets the caches catch up with what changed.
	conflictDelay = 200 * time.Millisecond
	// foreignAgain is how often a name conflict is looked at again: somebody else's objects are not watched.
	foreignAgain = 30 * time.Second
)

// Reconcile makes one pass: observe, decide, act, report.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	// Observe: read what the next step needs. What could not be read is not taken for absent.
	backup, observed, err := r.observe(ctx, false, request.NamespacedName)
	if backup == nil || err != nil {
		return ctrl.Result{}, err
	}

	// Decide. What cannot be taken back is decided again from the API server itself.
	todo := plan.For(backup, observed)
	if todo.LiveRead() {
		backup, observed, err = r.observe(ctx, true, request.NamespacedName)
		if backup == nil || err != nil {
			return ctrl.Result{}, err
		}
		todo = plan.For(backup, observed)
	}

	// Act: the operations in their order, up to the first that fails.
	done, actErr := r.act(ctx, backup, todo)

	// Report: always, also after an error.
	reportErr := r.report(ctx, backup, todo, done, actErr)
	return result(todo, actErr, reportErr)
}

// result says when to look again. What a human has to mend is looked at now and then.
func result(todo plan.Plan, actErr, reportErr error) (ctrl.Result, error) {
	switch err := errors.Join(actErr, reportErr); {
	case err == nil:
		return ctrl.Result{RequeueAfter: todo.RequeueAfter}, nil
	case apierrors.IsConflict(err):
		return ctrl.Result{RequeueAfter: conflictDelay}, nil
	case reportErr == nil && errors.As(actErr, new(plan.ForeignError)):
		return ctrl.Result{RequeueAfter: foreignAgain}, nil
	default:
		return ctrl.Result{}, err
	}
}
