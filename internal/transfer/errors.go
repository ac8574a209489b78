/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Error is a failure with its reason. Its message has the cause and the action that the user should take.
type Error struct {
	Reason  protocol.Reason
	Message string
	// action is the exit code of the action that failed.
	action protocol.ExitCode
}

func (f *Error) Error() string { return f.Message }

func failf(reason protocol.Reason, format string, arguments ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// exitCode returns the exit code, which decides whether another attempt follows.
func (f *Error) exitCode() protocol.ExitCode { return f.Reason.ExitCode(f.action) }

// failureOf returns the failure in an error, or one with the reason Failed.
func failureOf(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	return failf(protocol.Failed, "%v.", err)
}

// verdict returns why a step failed. If its context ended, it returns the cause of the context.
func verdict(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if failure, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return failure
	}
	return failf(protocol.Interrupted, "The transfer was interrupted before it was complete. The next attempt starts from the beginning.")
}
