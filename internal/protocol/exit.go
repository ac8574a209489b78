/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import "slices"

// ExitCode is how a call of transfer ends. An engine's action ends with the same codes.
type ExitCode int32

// The exit codes that mean something. Any other means the same as ExitFailed.
const (
	ExitDone          ExitCode = 0
	ExitFailed        ExitCode = 1
	ExitTransient     ExitCode = 11 // something that passes, such as a destination that does not answer
	ExitPrecondition  ExitCode = 20 // a human has to change something first
	ExitRefused       ExitCode = 30 // it is unsafe, and nothing overrides that
	ExitNotApplicable ExitCode = 40 // there is nothing to do here
)

// Final reports whether no other attempt follows.
func (c ExitCode) Final() bool { return slices.Contains(Final(), c) }

// Final returns the exit codes that no other attempt follows.
func Final() []ExitCode { return []ExitCode{ExitRefused, ExitNotApplicable} }

// Uncounted returns the exit codes that another attempt follows however many there were.
func Uncounted() []ExitCode { return []ExitCode{ExitTransient} }

// passedThrough is an action's own exit code, where that says more than that it failed.
func (c ExitCode) passedThrough() ExitCode {
	switch c {
	case ExitTransient, ExitPrecondition, ExitRefused, ExitNotApplicable:
		return c
	case ExitDone, ExitFailed:
	}
	return ExitFailed
}
