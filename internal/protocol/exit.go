/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import "slices"

// ExitCode is the exit code of transfer. An action of an engine uses the same codes.
type ExitCode int32

// The defined exit codes. Any other code is equivalent to ExitFailed.
const (
	ExitDone          ExitCode = 0
	ExitFailed        ExitCode = 1
	ExitTransient     ExitCode = 11 // a temporary failure, such as an unreachable destination
	ExitPrecondition  ExitCode = 20 // action required: the user must correct the cause
	ExitRefused       ExitCode = 30 // unsafe, cannot be overridden
	ExitNotApplicable ExitCode = 40 // nothing to do
)

// Final reports whether the exit code ends all attempts.
func (c ExitCode) Final() bool { return slices.Contains(Final(), c) }

// Final returns the exit codes after which no attempt follows.
func Final() []ExitCode { return []ExitCode{ExitRefused, ExitNotApplicable} }

// Uncounted returns the exit codes that do not count toward the limit of attempts.
func Uncounted() []ExitCode { return []ExitCode{ExitTransient} }

// passedThrough returns an action's own exit code if it has more meaning than ExitFailed.
func (c ExitCode) passedThrough() ExitCode {
	switch c {
	case ExitTransient, ExitPrecondition, ExitRefused, ExitNotApplicable:
		return c
	case ExitDone, ExitFailed:
	}
	return ExitFailed
}
