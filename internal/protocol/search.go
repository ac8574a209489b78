/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"cmp"
	"time"
)

// Search finds the newest complete backup of a cluster in the folder with its backups. It succeeds only if it has understood the folder:
// with a backup, or with the knowledge that the folder is empty.
type Search struct {
	At string `flag:"at" usage:"the <URL> of the folder with the backups and archives: s3://bucket/path or file:///path"`
	ID string `flag:"id" usage:"the <UID> of the cluster that starts with the backup: a backup of its own is refused"`
	// Recovers needs a backup with which a recovery can begin.
	Recovers bool   `flag:"recovers" usage:"find a backup that begins in an archive"`
	Until    string `flag:"until" usage:"the <time> before which the backup was complete, in RFC 3339 (default: any time)"`
	Store
	Report
}

func (s *Search) check() error {
	_, err := s.Moment()
	return cmp.Or(s.Store.check(s.At, true), needsID(s.ID), err)
}

// Moment is the time of Until; zero for none.
func (s *Search) Moment() (time.Time, error) { return moment("--until", s.Until) }

// Found is what a Search has found. The zero value is an empty folder.
type Found struct {
	// Location is the URL of the newest complete backup; "" if the folder has no object at all.
	Location string `json:"location,omitempty"`
	// Engine and Image are those of the backup; "" if its manifest does not record them.
	Engine string `json:"engine,omitempty"`
	Image  string `json:"image,omitempty"`
	// Members is how many members the backup has.
	Members int `json:"members,omitempty"`
	// Completed is when the backup was complete.
	Completed time.Time `json:"completed,omitzero"`
}
