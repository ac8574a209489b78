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
	// Trusted is true if a recovery may start with the backup.
	Trusted bool
	// Named is true if an earlier Retained has named it, so the backup remains.
	Named bool
}

// Span is a time in which every moment can be recovered.
type Span struct{ Oldest, Newest time.Time }

// base is a backup that begins in a file of the archive.
type base struct {
	BaseBackup
	// in is the index of its range, begin the number of the file.
	in    int
	begin int64
	// usable is true if a recovery can start with it and reaches the end of the range. doubtful is true if it may: no mark shows that the
	// database has not given up the end of the backup, or a clock was wrong before the next gap.
	usable, doubtful bool
}

// basesIn are the backups that begin in the archive, in the order in which they ended.
func basesIn(ranges []Range, backups []BaseBackup) (all []base) {
	for _, b := range backups {
		at, begin := home(ranges, b)
		for i := range ranges {
			r := &ranges[i]
			if begin[i] < 0 {
				continue
			}
			open, fits := i == len(ranges)-1, b.Trusted && i == at
			usable := fits && r.has(b, begin[i]) && (open || !b.Ended.After(r.Newest())) // it ended before the next gap
			all = append(all, base{b, i, begin[i], usable, fits && !usable && (open || !b.Ended.After(r.latest()))})
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

// Usable returns the IDs of the backups with which a recovery can start.
func (c Listing) Usable(backups []BaseBackup) (ids []string) {
	for _, b := range basesIn(c.Ranges(), backups) {
		if b.usable {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

// Retained is what recoveries need.
type Retained struct {
	// From is the number of the first file.
	From int64
	// Backups are the IDs of the backups, in the order in which they ended.
	Backups []string
}

// Retained returns what remains, so that every moment since a time can be recovered that can be now; each moment for the zero time. That
// needs the last usable backup that ended before, the log since then, and the first backup after each gap. The one after the last backup
// takes its place later, and a doubtful one may be needed. Log is not needed from before a backup that was named, if all log of the
// others that ended later is there, usable or not.
func (c Listing) Retained(backups []BaseBackup, since time.Time) (remains Retained) {
	all := basesIn(c.Ranges(), backups)
	if len(all) == 0 {
		return remains
	}
	remains.From = c[len(c)-1].Sequence - MaxObjectsInFlight // the last files show where the archive continues
	for _, b := range window(all, since, func(b base) bool { return b.Named }) {
		remains.From = max(0, min(remains.From, b.begin))
	}
	remains.Backups = needed(window(all, since, func(base) bool { return true }))
	return remains
}

// window are the bases from the last usable one that ended before a time; all of them if there is none.
func window(all []base, since time.Time, begins func(base) bool) []base {
	for i, b := range slices.Backward(all) {
		if b.usable && begins(b) && !since.IsZero() && !b.Ended.After(since) {
			return all[i:]
		}
	}
	return all
}

// needed are the IDs of the first base of each range, the second one of the first, and the doubtful ones.
func needed(all []base) (ids []string) {
	usable := map[int]int{}
	for _, b := range all {
		if b.usable {
			usable[b.in]++
		}
		first := usable[b.in] == 1 || usable[b.in] == 2 && len(usable) == 1
		if (b.usable && first || b.doubtful) && !slices.Contains(ids, b.ID) {
			ids = append(ids, b.ID)
		}
	}
	return ids
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
