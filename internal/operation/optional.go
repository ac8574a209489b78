/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import "errors"

// OptionalError is the error of an optional operation.
type OptionalError struct{ Err error }

func (e OptionalError) Error() string { return e.Err.Error() }

// Unwrap returns the error.
func (e OptionalError) Unwrap() error { return e.Err }

// Errors are those of a pass; nil for none. Only the required ones concern the whole object: a subject reports the others.
type Errors struct{ Required, Optional, RefusedDecision error }

// Split sorts the errors of a pass.
func Split(err error) Errors {
	switch e := err.(type) { //nolint:errorlint // an error of one operation that wraps others is not split
	case OptionalError:
		return Errors{Optional: e}
	case RefusedDecisionError:
		return Errors{RefusedDecision: e}
	case interface{ Unwrap() []error }:
		var all Errors
		for _, one := range e.Unwrap() {
			is := Split(one)
			all.Required, all.Optional = errors.Join(all.Required, is.Required), errors.Join(all.Optional, is.Optional)
			all.RefusedDecision = errors.Join(all.RefusedDecision, is.RefusedDecision)
		}
		return all
	default:
		return Errors{Required: err}
	}
}
