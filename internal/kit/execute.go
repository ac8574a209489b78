/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/dbcluster/databasecluster-operator/internal/operation"
)

// Execute executes the operations of a plan by the rules of their properties, and returns the events. An operation
// that fails does not prevent the next ones, unless it is First. It prevents the disruptive operation, unless it is
// Independent.
//
// If a plan that was not decided on a live read finds the name of a new object taken, Execute ends: the object may have another owner,
// which the cache does not show, and the next operations may depend on it.
func Execute(ctx context.Context, todo Plan, live bool,
	execute func(context.Context, operation.Operation) ([]Event, error)) ([]Event, error) {
	var done []Event
	var errs, aside []error
	work := todo.Work()
	for _, o := range work.Operations {
		is := o.Properties()
		if is.Disruptive && len(errs) > 0 {
			break
		}
		logf.FromContext(ctx).Info("executing", "operation", o.String(), "reason", work.Why)
		events, err := execute(ctx, o)
		done = append(done, events...)
		switch {
		case err == nil:
		case is.Optional:
			aside = append(aside, operation.OptionalError{Err: err})
		case is.Independent:
			aside = append(aside, err)
		default:
			errs = append(errs, err)
		}
		if err != nil && is.First || !live && apierrors.IsAlreadyExists(err) {
			break
		}
	}
	return done, errors.Join(append(errs, aside...)...)
}
