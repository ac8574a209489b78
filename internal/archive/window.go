/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"slices"
	"time"
)

// BaseBackup is a backup from which an archive can be replayed.
type BaseBackup struct {
	ID string
	// Start is the file of the archive in which the backup begins. A recovery needs no earlier file.
	Start string
	// Ended is the end of the backup: no earlier moment can be recovered from it.
	Ended time.Time
	// Bad is true if it is known that the backup cannot be restored.
	Bad bool
}

// Span is a time in which every moment can be recovered.
type Span struct{ Oldest, Newest time.Time }

// base is a backup that begins in the archive.
type base struct {
	BaseBackup
	// in is the index of its range, begin the number of its first file.
	in    int
	begin int64
	// usable is true if a recovery can start with it: it is not bad, the database has not given up a part of it, and it ended before the
	// next gap.
	usable bool
}

// basesIn are the backups that begin in the archive, in the order in which they ended.
func basesIn(ranges []Range, backups []BaseBackup) (all []base) {
	for _, b := range backups {
		if i := rangeOf(ranges, b.Start); i >= 0 {
			r := &ranges[i]
			ends := i == len(ranges)-1 || !b.Ended.After(r.Newest())
			all = append(all, base{b, i, r.Files[b.Start], !b.Bad && r.has(b) && ends})
		}
	}
	slices.SortStableFunc(all, func(a, b base) int { return a.Ended.Compare(b.Ended) })
	return all
}

// Spans are what can be recovered from these backups, oldest first, one for each range at most. Based reports whether a backup begins in
// the last range, so whether moments that are archived from now on can be recovered.
func (c Listing) Spans(backups []BaseBackup) (spans []Span, based bool) {
	ranges := c.Ranges()
	all := basesIn(ranges, backups)
	for i := range ranges {
		first := slices.IndexFunc(all, func(b base) bool { return b.in == i && b.usable })
		if based = first >= 0 && c[len(c)-1].Record != Gap; first < 0 {
			continue
		}
		if newest := ranges[i].Newest(); !newest.Before(all[first].Ended) {
			spans = append(spans, Span{all[first].Ended, newest})
		}
	}
	return spans, based
}

// rangeOf is the index of the newest range with a file, -1 for none.
func rangeOf(ranges []Range, file string) int {
	for i, r := range slices.Backward(ranges) {
		if _, has := r.Files[file]; has {
			return i
		}
	}
	return -1
}

// Retained is what recoveries need.
type Retained struct {
	// From is the number of the first file that they need.
	From int64
	// Backups are the IDs of the backups that they need, in the order in which they ended.
	Backups []string
}

// Retained returns what remains, so that every moment since a time can be recovered that can be now; each moment for the zero time. It needs
// the last usable backup that ended before, the log since then, and the first backup after each gap. The one after the last backup takes
// its place later. Of a backup that ended later, the log remains also if the backup is not usable.
func (c Listing) Retained(backups []BaseBackup, since time.Time) (remains Retained) {
	all := basesIn(c.Ranges(), backups)
	for i, b := range slices.Backward(all) {
		if b.usable && !since.IsZero() && !b.Ended.After(since) {
			all = all[i:]
			break
		}
	}
	if len(all) == 0 {
		return remains
	}
	remains.From = c[len(c)-1].Sequence - MaxObjectsInFlight // the last files show where the archive continues
	seen := map[int]int{}
	for _, b := range all {
		remains.From = max(0, min(remains.From, b.begin))
		if !b.usable {
			continue
		}
		if seen[b.in]++; seen[b.in] == 1 || seen[b.in] == 2 && len(seen) == 1 {
			remains.Backups = append(remains.Backups, b.ID)
		}
	}
	return remains
}

// Before returns the names of the objects of files before a number, oldest first: whenever their removal ends, no hole remains.
func Before(names []string, sequence int64) (all []string) {
	for _, name := range names {
		if p, is := Parse(name); is && p.Sequence < sequence {
			all = append(all, name)
		}
	}
	slices.Sort(all) // names begin with the folder and the number, both of one length
	return all
}
