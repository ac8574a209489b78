/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// The files in which the command of a recovery reports where it has stopped, a time in RFC 3339 in each.
const (
	reachedFile    = "reached"
	lastCommitFile = "last-commit"
)

// written is the time in a file of the command; zero if it has written nothing.
func written(folder, file string) (at time.Time, err error) {
	text, err := os.ReadFile(filepath.Join(folder, file)) //nolint:gosec // our own folder
	if line := strings.TrimSpace(string(text)); err == nil && line != "" {
		at, err = time.Parse(time.RFC3339Nano, line)
		return at, err
	}
	return at, nil
}

// lastCommit is the time of the last commit, if the command reports it. The data has more than the target if that is later. Databases
// round the target to microseconds.
func (r *recoverRun) lastCommit(folder string) (time.Time, error) {
	at, err := written(folder, lastCommitFile)
	_, until, _ := r.Times()
	switch {
	case err != nil:
		return at, r.refused("has written a time of the last commit that is not in RFC 3339. Correct the action.")
	case !until.IsZero() && at.Sub(until) > time.Microsecond:
		return at, r.refused("has replayed a commit of %s, which is after the target. Correct the action, so that it stops at the time in %s.",
			at.UTC().Format(time.RFC3339Nano), protocol.UntilVariable)
	}
	return at, nil
}

// reached is the time of the target, or an earlier time if the command reports that it does not know what was committed between both.
func (r *recoverRun) reached(folder string, until time.Time) (time.Time, error) {
	at, err := written(folder, reachedFile)
	switch {
	case err != nil:
		return at, r.refused("has written a time into %s that is not in RFC 3339. Correct the action.", protocol.ReachedVariable)
	case at.IsZero() || at.After(until):
		return until, nil
	}
	return at, nil
}

// timeOfPoint is what the command has written. A command that does not know points has replayed everything, and has written nothing.
func (r *recoverRun) timeOfPoint(folder string) (time.Time, error) {
	at, err := written(folder, reachedFile)
	if err != nil || at.IsZero() {
		return at, r.refused("has not written when the point %q was created, so the data may have more than that. "+
			"Use an engine whose action recover knows points.", r.Point)
	}
	return at, nil
}

// refused is a failure that another attempt repeats, because of what the action has written.
func (r *recoverRun) refused(format string, args ...any) *Error {
	return &Error{Reason: protocol.ActionFailed, action: protocol.ExitRefused,
		Message: fmt.Sprintf("The action %s "+format, append([]any{r.Command[0]}, args...)...)}
}
