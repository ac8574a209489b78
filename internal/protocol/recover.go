/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"time"
)

// Recover runs the command, which replays an archive into the data that a restore has left. The command gets files by the words in the
// variable FetchVariable, with the flags --file and --into.
type Recover struct {
	From  string `flag:"from" usage:"the <URL> of the archive: s3://bucket/path or file:///path"`
	Start string `flag:"start" usage:"the <name> of the file in which the restored backup begins"`
	Until string `flag:"until" usage:"the <time> until which commits are replayed, in RFC 3339 (default: the end of the archive)"`
	Store
	Report
	Command []string
}

// The variables of the command of a Recover.
const (
	FetchVariable = "DBC_ARCHIVE_FETCH"
	// UntilVariable is the time until which commits are replayed; empty for the end.
	UntilVariable = "DBC_RECOVER_UNTIL"
	// LastVariable is the last file of the archive that belongs to the recovery.
	LastVariable = "DBC_ARCHIVE_LAST"
)

func (r *Recover) check() error {
	_, err := r.Time()
	return cmp.Or(r.Store.check(r.From, true), first(rule{r.Start == "", "--start is required"}, rule{err != nil, "--until is no time in RFC 3339"}))
}

// Time is the time of Until; zero for the end.
func (r *Recover) Time() (time.Time, error) {
	if r.Until == "" {
		return time.Time{}, nil
	}
	return time.Parse(time.RFC3339Nano, r.Until)
}

// The answers to the name of a file on the socket of a Recover, a line each.
const (
	AnswerFile   = "file"   // LENGTH, and the bytes follow
	AnswerAbsent = "absent" // the archive does not have the file
)
