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

// Error is a failure with its reason. Its message is a sentence with the cause and what to do.
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

// exitCode tells whether trying again helps.
func (f *Error) exitCode() protocol.ExitCode { return f.Reason.ExitCode(f.action) }

// failureOf is the failure that an error is or stands for.
func failureOf(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	return failf(protocol.Failed, "%v.", err)
}

// verdict is why a step ended with an error: when its context was ended, what that was ended for.
func verdict(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if failure, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return failure
	}
	return failf(protocol.Interrupted, "The transfer was asked to stop before it was done; it starts again from the beginning.")
}
