/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"fmt"
	"time"
)

// Recover runs the command, which replays an archive into the data that a restore has left. The command gets files by the words in the
// variable FetchVariable, with the flags --file and --into.
type Recover struct {
	From  string `flag:"from" usage:"the <URL> of the archive: s3://bucket/path or file:///path"`
	Start string `flag:"start" usage:"the <name> of the file in which the restored backup begins"`
	Since string `flag:"since" usage:"the <time> at which the restored backup ended, in RFC 3339: an earlier --until is refused"`
	Until string `flag:"until" usage:"the <time> until which commits are replayed, in RFC 3339 (default: the end of the archive)"`
	Point string `flag:"point" usage:"the <name> of the point in the log until which commits are replayed"`
	Store
	Report
	Command []string
}

// RecoverVariable is true for the command of a Restore if another command replays an archive afterward: then it leaves the data as the
// backup has it.
const RecoverVariable = "DBC_RECOVER"

// The variables of the command of a Recover.
const (
	FetchVariable = "DBC_ARCHIVE_FETCH"
	// UntilVariable is the time until which commits are replayed; empty for the end.
	UntilVariable = "DBC_RECOVER_UNTIL"
	// PointVariable is the name of a point in the log; empty for none. ReachedVariable is the path of a file, into which the command writes
	// the time of that point: this shows that it has stopped there. With a time, it may write an earlier time, until which it has each commit.
	PointVariable   = "DBC_RECOVER_POINT"
	ReachedVariable = "DBC_RECOVERED_TO"
	// LastCommitVariable is the path of a file, into which the command may write the time of the last commit that it has replayed.
	LastCommitVariable = "DBC_LAST_COMMIT"
	// FilesVariable is the path of a file with the names and sizes of the recovery's files, a line each, in the order in which they were
	// written. The first one is that in which the backup begins.
	FilesVariable = "DBC_ARCHIVE_FILES"
)

func (r *Recover) check() error {
	_, _, err := r.Times()
	return cmp.Or(r.Store.check(r.From, true), first(
		rule{r.Start == "", "--start is required"}, onlyOne(r.Until, r.Point),
	), err)
}

// onlyOne refuses two places at which a recovery would stop.
func onlyOne(until, point string) rule {
	return rule{until != "" && point != "", "--until and --point exclude each other"}
}

// Times are the times of Since and Until; zero for none.
func (r *Recover) Times() (since, until time.Time, err error) {
	since, err = moment("--since", r.Since)
	if err == nil {
		until, err = moment("--until", r.Until)
	}
	return since, until, err
}

// moment reads a time; an empty text is the zero time.
func moment(flag, text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	if at, err = time.Parse(time.RFC3339Nano, text); err != nil {
		return at, fmt.Errorf("%s %q is no time in RFC 3339", flag, text)
	}
	return at, nil
}

// The answers to the name of a file and the path of its copy, a line each, on the socket of a Recover. The answer is a line, too.
const (
	AnswerFile   = "file"   // it is where the command wants it
	AnswerAbsent = "absent" // the archive does not have the file
)
