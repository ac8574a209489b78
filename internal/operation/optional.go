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

// Split returns the error of a pass without those of optional operations, and the latter; nil for none.
func Split(err error) (required, optional error) {
	switch e := err.(type) { //nolint:errorlint // an error of one operation that wraps others is not split
	case OptionalError:
		return nil, e
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			a, b := Split(one)
			required, optional = errors.Join(required, a), errors.Join(optional, b)
		}
		return required, optional
	default:
		return err, nil
	}
}
