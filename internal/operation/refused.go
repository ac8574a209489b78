/*
SPDX-License-Identifier: Apache-2.0
*/

package operation

import (
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Refused reports whether the API server will refuse the request until the user changes the spec, a quota or a permission.
func Refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || malformed(err)
}

// malformed reports whether server-side apply could not read the request, for example because a list has two elements with the same
// key. The API server returns only this message, without a reason.
func malformed(err error) bool {
	return err != nil && strings.Contains(err.Error(), "failed to create typed patch object")
}

// RefusedDecisionError is a refusal of what the operator itself has decided. The spec is not at fault, so the cluster is not Stalled: the
// subject that has decided reports it, and decides again.
type RefusedDecisionError struct{ error }

// Unwrap returns the error of the API server.
func (e RefusedDecisionError) Unwrap() error { return e.error }

// Judge returns the error of an operation.
func (w Work) Judge(err error) error {
	if w.Decided && Refused(err) {
		return RefusedDecisionError{err}
	}
	return err
}
