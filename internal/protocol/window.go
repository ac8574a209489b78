/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"time"
)

// Window finds out what can be recovered from the archive of a cluster and the backups beside it, and deletes log that no recovery needs.
type Window struct {
	Of string `flag:"of" usage:"the <URL> of the folder with the archive and the backups: s3://bucket/path or file:///path"`
	ID string `flag:"id" usage:"the <UID> of the cluster"`
	// Patience is for the mark that follows the newest backup, without which no moment can be recovered from it.
	Patience time.Duration `flag:"patience" default:"2m0s" usage:"how long to wait until the archive has everything of the newest backup"`
	// Remove deletes log. Without it, Keep decides only which backups are needed.
	Remove bool          `flag:"remove" usage:"delete log that no recovery needs"`
	Keep   time.Duration `flag:"keep" usage:"the time until now of which every moment remains recoverable (default: all that the backups have)"`
	// Trusted are the backups that can be restored, as far as it is known. Of all others in the destination, the log remains. Named are
	// those that an earlier result has as Needed: with Keep, only log from before one of them is deleted.
	Trusted []string `flag:"trust" usage:"the <UID> of a backup with which a recovery may start; may be repeated"`
	Named   []string `flag:"named" usage:"the <UID> of a backup that remains, so log from before it may be deleted; may be repeated"`
	Store
	Report
}

func (w *Window) check() error {
	return cmp.Or(w.Store.check(w.Of, true), needsID(w.ID))
}

const (
	// MaxSpans is the maximum number of spans in a result: the newest ones.
	MaxSpans = 16
	// MaxNeeded is the maximum number of backups in a result.
	MaxNeeded = 32
	// MaxUnusable is the maximum number of unusable backups in a result.
	MaxUnusable = 16
)

// Span is a time in which every moment can be recovered.
type Span struct {
	Oldest time.Time `json:"oldest"`
	Newest time.Time `json:"newest"`
}

// Recoverable is what a Window has found.
type Recoverable struct {
	// Spans are ordered by Oldest.
	Spans []Span `json:"spans,omitempty"`
	// Based is true if a backup begins in the log that is being archived now. Otherwise no later moment can be recovered.
	Based bool `json:"based"`
	// StoredBytes is the size of the archive.
	StoredBytes int64 `json:"storedBytes"`
	// Current is true if Spans reach beyond the newest backup.
	Current bool `json:"current"`
	// Needed are the UIDs of the backups that recoveries need. Empty if it is unknown, or if they are more than MaxNeeded: then all are.
	Needed []string `json:"needed,omitempty"`
	// Unusable are the UIDs of the trusted backups that begin in the archive, but no recovery can start with them, or it is unknown whether
	// one can: the newest ones, newest first. They have the rest of the room for the result.
	Unusable []string `json:"unusable,omitempty"`
	// Removed is the number of objects that were deleted. Left is why others were not; "" if none is left.
	Removed int    `json:"removed,omitempty"`
	Left    string `json:"left,omitempty"`
	// Unread is why a backup could not be read; "" if all could.
	Unread string `json:"unread,omitempty"`
}

// without is the result without the oldest unusable backup.
func (r *Recoverable) without() *Recoverable {
	less := *r
	less.Unusable = r.Unusable[:len(r.Unusable)-1]
	return &less
}
