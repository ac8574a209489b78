/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
)

// Reason says in one word why a transfer failed. Those who started it decide by it what to do.
type Reason string

// The reasons there are.
const (
	DestinationUnreachable Reason = "DestinationUnreachable"
	CredentialsRefused     Reason = "CredentialsRefused"
	DestinationMissing     Reason = "DestinationMissing"
	ClockSkew              Reason = "ClockSkew"
	DestinationFull        Reason = "DestinationFull"
	BackupMissing          Reason = "BackupMissing"
	BackupCorrupt          Reason = "BackupCorrupt"
	ManifestInvalid        Reason = "ManifestInvalid"
	IDMismatch             Reason = "IdMismatch"
	VersionMismatch        Reason = "VersionMismatch"
	DataDirectoryNotEmpty  Reason = "DataDirectoryNotEmpty"
	DataVolumeFull         Reason = "DataVolumeFull"
	EncryptionKeyMissing   Reason = "EncryptionKeyMissing"
	EmptyBackup            Reason = "EmptyBackup"
	ActionHung             Reason = "ActionHung"
	ActionFailed           Reason = "ActionFailed"
	ActionStoppedReading   Reason = "ActionStoppedReading"
	Interrupted            Reason = "Interrupted"
	ProbeFailed            Reason = "ProbeFailed"
	CheckFailed            Reason = "CheckFailed"
	Failed                 Reason = "Failed"
)

// Exit codes, of transfer as of the actions that it runs.
const (
	exitDone          = 0
	exitFailed        = 1  // is tried again, and counts
	exitTransient     = 11 // is tried again, and does not count
	exitPrecondition  = 20 // is tried again, and counts
	exitRefused       = 30 // is never tried again, and never overridden
	exitNotApplicable = 40 // is never tried again
)

// Error is a failure with its reason. Its message is a sentence with the cause and what to do.
type Error struct {
	Reason  Reason
	Message string
	// action is the exit code of the action that failed.
	action int
}

func (f *Error) Error() string { return f.Message }

func failf(reason Reason, format string, arguments ...any) *Error {
	return &Error{Reason: reason, Message: fmt.Sprintf(format, arguments...)}
}

// exitCode tells whether trying again helps.
func (f *Error) exitCode() int {
	switch f.Reason {
	case DestinationUnreachable, ClockSkew, Interrupted:
		return exitTransient
	case CredentialsRefused, DestinationMissing, DestinationFull, DataVolumeFull, BackupMissing, EncryptionKeyMissing:
		return exitPrecondition
	case BackupCorrupt, ManifestInvalid, IDMismatch, VersionMismatch, DataDirectoryNotEmpty:
		return exitRefused
	case ActionFailed, ProbeFailed, CheckFailed:
		return passedThrough(f.action)
	case EmptyBackup, ActionHung, ActionStoppedReading, Failed:
	}
	return exitFailed
}

// passedThrough is an action's own exit code, where that says more than that it failed.
func passedThrough(code int) int {
	switch code {
	case exitTransient, exitPrecondition, exitRefused, exitNotApplicable:
		return code
	}
	return exitFailed
}

// failureOf is the failure that an error is or stands for.
func failureOf(err error) *Error {
	if failure, ok := errors.AsType[*Error](err); ok {
		return failure
	}
	return failf(Failed, "%v.", err)
}

// verdict is why a step ended with an error: when its context was ended, what that was ended for.
func verdict(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if failure, ok := errors.AsType[*Error](context.Cause(ctx)); ok {
		return failure
	}
	return failf(Interrupted, "The transfer was asked to stop before it was done; it starts again from the beginning.")
}
