/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"strings"
	"time"
)

// Archive stores what the command sends, until the command ends or the program is terminated. See package archive.
type Archive struct {
	To    string `flag:"to" usage:"the <URL> of the archive: s3://bucket/path or file:///path"`
	ID    string `flag:"id" usage:"the <UID> of the cluster"`
	About About  `flag:"about" usage:"<key=value> to store about the archive; may be repeated"`
	Store
	Compression
	MaxLag  time.Duration `flag:"max-lag" default:"5s" usage:"the time after which bytes that the command sent should be stored"`
	Stalled time.Duration `flag:"stalled-after" default:"10s" usage:"the time of failed writes after which the command learns that the store stalls"`
	State   string        `flag:"state" usage:"the <file> for the state of the archive, for the command lag; none by default"`
	Report
	Command []string
}

// Lag prints whether an archive has what it should have. It is a probe, so it writes no result.
type Lag struct {
	State string        `flag:"state" usage:"the <file> that the command archive writes"`
	Max   time.Duration `flag:"max" usage:"the age of the last commit from which an archive fails; by default it fails only if it writes no state"`
}

// Fetch copies a file of an archive. It ends with ExitNotApplicable if the archive does not have the file.
type Fetch struct {
	From string `flag:"from" usage:"the <URL> of the archive: s3://bucket/path or file:///path"`
	// Through is set by a Recover: it has the credentials, and reads ahead.
	Through string `flag:"through" usage:"the <socket> of the recovery that runs this command, in place of --from"`
	File    string `flag:"file" usage:"the <name> of the file in the archive"`
	Into    string `flag:"into" usage:"the <path> of the copy"`
	Store
	Report
}

func (a *Archive) check() error {
	return cmp.Or(a.Store.check(a.To, true), needsID(a.ID), a.Compression.check())
}

func (l *Lag) check() error { return first(rule{l.State == "", "--state is required"}) }

// ResultPath is empty: the result of the container is that of the archive.
func (*Lag) ResultPath() string { return "" }

func (f *Fetch) check() error {
	var place error
	if f.Through == "" {
		place = f.Store.check(f.From, true)
	}
	return cmp.Or(place, first(
		rule{f.Through != "" && f.From != "", "--from and --through are set: set one"},
		rule{f.File == "", "--file is required"},
		rule{f.Into == "", "--into is required"},
	))
}

// ArchiveFolder is the name of the folder with the archive of a cluster, beside its backups.
func ArchiveFolder(clusterUID string) string { return "archive-" + clusterUID }

// uidBytes is the length of a UID of Kubernetes.
const uidBytes = 36

// ClusterOf is the UID of the cluster with this data. A cluster has other data since a DatabaseRestore replaced it: its backups and its
// archive then have the UID with a suffix, in place of the UID.
func ClusterOf(lineage string) string { return lineage[:min(len(lineage), uidBytes)] }

// ArchiveBeside is the URL of that folder, for the URL of a backup.
func ArchiveBeside(backup, clusterUID string) string {
	return Beside(backup, ArchiveFolder(clusterUID))
}

// Beside is the URL of another folder beside the folder of a backup; without a name, that of the folder with both, with a slash at its end.
func Beside(backup, folder string) string {
	backup = strings.TrimRight(backup, "/")
	return backup[:strings.LastIndex(backup, "/")+1] + folder
}

// ArchiveFact is the fact that records where the recovery of a backup begins: the file of the archive that the database wrote when the
// backup began. If the archive has no such file, it is the last one whose name sorts before, of those that are equal up to the last "-".
const ArchiveFact = "archiveFile"

// ArchiveName is the name of the object with the owner of an archive.
const ArchiveName = "archive.json"

// ArchiveFormat is the format that transfer writes.
const ArchiveFormat = 1

// ArchiveOwner is the content of that object.
type ArchiveOwner struct {
	Format int    `json:"format"`
	ID     string `json:"id"`
	About  About  `json:"about,omitempty"`
}

// The archive action sends frames: a line, and after data and put the announced bytes.
const (
	FrameData = "data" // FILE OFFSET LENGTH: more of a file
	FrameEnd  = "end"  // FILE SIZE: the file is complete
	FramePut  = "put"  // FILE LENGTH: a small file, complete at once
	FrameCut  = "cut"  // store now what was sent: the database waits for it
	FrameMark = "mark" // TIME: everything that was committed until then has been sent, in RFC 3339
	FrameFork = "fork" // FILE OFFSET: the history of the database left the file there
	FrameGap  = "gap"  // FILE OFFSET: what follows does not continue the archive, which ends there
)

// The action reads replies, a line each.
const (
	ReplyLast    = "last"    // [FILE OFFSET open|complete|gap|fork [DIGEST]]: where the archive ends; the first line
	ReplyTail    = "tail"    // TIME|- [LINE]: the newest mark of the file in a last with open or complete, and the line that ends it
	ReplyDurable = "durable" // FILE OFFSET: the database may forget everything before
	ReplyGap     = "gap"     // FILE OFFSET: the gap is stored; a durable before this reply is of log before the gap
	ReplyStalled = "stalled" // the store does not take anything: disconnect, so that the database does not wait
	ReplyResumed = "resumed" // it does again
)

// archivedMessage is the message of an Archived.
const archivedMessage = "archived"

// Archived is the state of a running archive.
type Archived struct {
	// At is the time of the state.
	At     time.Time `json:"at"`
	File   string    `json:"file"`
	Offset int64     `json:"offset"`
	// Mark is a time: everything that was committed until then is in the store. Zero if unknown.
	Mark time.Time `json:"mark,omitzero"`
	// Problem is why the store has not taken an object; "" if it has.
	Problem string `json:"problem,omitempty"`
	// Lost is when the database did not have the log that follows; zero if it always had.
	Lost time.Time `json:"lost,omitzero"`
	// Heard is the time of the last frame.
	Heard time.Time `json:"heard,omitzero"`
	// Since is the first failure.
	Since time.Time `json:"since,omitzero"`
	// Said is the last line of the action.
	Said string `json:"said,omitempty"`
}

// Log returns the state as a log line.
func (a Archived) Log() (message string, attributes []any) {
	attributes = []any{"file", a.File, "offset", a.Offset}
	if !a.Mark.IsZero() {
		attributes = append(attributes, "mark", a.Mark)
	}
	if a.Problem != "" {
		attributes = append(attributes, "problem", a.Problem, "since", a.Since)
	}
	return archivedMessage, attributes
}
