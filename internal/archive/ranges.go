/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Range is a part of an archive without holes. Every moment between a backup that ends in it and Newest can be recovered.
type Range struct {
	// First and Last are the sequences of its files.
	First, Last int64
	// Files are their sequences by name.
	Files map[string]int64
	// Begin is the sequence of the file in which a backup begins, in a range that Covering returns.
	Begin int64
	// marks are those of the history that the database has not given up.
	marks []placed
	// turns are the forks of the range.
	turns []turn
}

// turn is a fork: the database left its history, and the marks before it show the commits until a time.
type turn struct {
	sequence int64
	until    time.Time
}

// placed is a mark with its place in the archive.
type placed struct {
	sequence int64
	At
}

// Newest is a time: everything that was committed until then is in the range. Zero if it is unknown.
func (r *Range) Newest() time.Time { return newest(r.marks) }

// newest is the mark of the last place, where each mark is true. A later mark at an earlier place is of a clock that was wrong.
func newest(marks []placed) (until time.Time) {
	var last placed
	for _, mark := range marks {
		switch order := mark.compare(last.sequence, last.End); {
		case until.IsZero(), order > 0, order == 0 && mark.Time.After(until):
			last, until = mark, mark.Time
		}
	}
	return until
}

func (p placed) compare(sequence, end int64) int {
	return cmp.Or(cmp.Compare(p.sequence, sequence), cmp.Compare(p.End, end))
}

// latest is the latest mark, of whatever clock.
func (r *Range) latest() (latest time.Time) {
	for _, mark := range r.marks {
		if mark.Time.After(latest) {
			latest = mark.Time
		}
	}
	return latest
}

// Newest is a time until which the archive has everything, between its gaps. Zero if it is unknown.
func (c Listing) Newest() (newest time.Time) {
	for _, r := range c.Ranges() {
		if until := r.Newest(); until.After(newest) {
			newest = until
		}
	}
	return newest
}

// MarkedUntil is the latest mark that is not after a time: the database was in use then. Zero if there is none.
func (c Listing) MarkedUntil(until time.Time) (last time.Time) {
	for _, r := range c.Ranges() {
		for _, mark := range r.marks {
			if mark.Time.After(last) && !mark.Time.After(until) {
				last = mark.Time
			}
		}
	}
	return last
}

// Covering returns the range from which a backup can be recovered until a time; zero for the end. The error is why there is none, and what
// can be recovered.
func (c Listing) Covering(b BaseBackup, until time.Time) (Range, error) {
	r, newest, err := c.After(b)
	if err != nil {
		return r, err
	}
	return r, r.covers(b.Start, until, newest)
}

// After returns the range in which a backup begins, and whether it is the newest one of the archive.
func (c Listing) After(b BaseBackup) (r Range, newest bool, err error) {
	all := c.Ranges()
	if i, at := home(all, b); i >= 0 {
		all[i].Begin = at[i]
		return all[i], i == len(all)-1, nil
	}
	return r, false, fmt.Errorf("the archive does not have %s, where this backup begins. Choose a backup that began after the archive",
		b.Start)
}

func (r *Range) covers(start string, until time.Time, newest bool) error {
	end := r.Newest()
	switch {
	case until.IsZero() && newest:
		return nil
	case !until.IsZero() && !until.After(end):
		return r.once(until)
	case end.IsZero():
		return fmt.Errorf("the archive does not record which commits it has after %s", start)
	case newest:
		return fmt.Errorf("%s is after %s, until when the archive has every commit. Choose a time until then", inUTC(until), inUTC(end))
	default:
		return fmt.Errorf("log that follows %s is missing in the archive. From this backup, choose a time until then, or choose a later backup",
			inUTC(end))
	}
}

// agreement is by how much the clocks of servers differ, and marks are inexact.
const agreement = 5 * time.Second

// once refuses a time that the log has twice, because a clock was set back: a database stops at the first commit after it, before those of
// the second time.
func (r *Range) once(until time.Time) error {
	var latest time.Time
	for _, mark := range r.marks {
		switch {
		case mark.sequence < r.Begin:
		case !mark.Time.Before(latest):
			latest = mark.Time
		case latest.After(until) && !mark.Time.After(until) && latest.Sub(mark.Time) > agreement:
			return fmt.Errorf("the log has %s twice, because a clock of the database was set back from %s to %s. Choose a time before or "+
				"after these", inUTC(until), inUTC(latest), inUTC(mark.Time))
		}
	}
	return nil
}

func inUTC(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Ranges returns the ranges of an archive, oldest first. A range ends at a recorded gap, at a missing file, and at a file that is not
// complete although another one follows it.
func (c Listing) Ranges() (all []Range) {
	open := false // the last range can continue
	for i, f := range c {
		switch {
		case f.Record == Gap:
			open = false
			continue
		case open && f.Record == Fork:
			all[len(all)-1].leave(f)
		}
		if !open || f.Sequence > all[len(all)-1].Last+1 {
			all = append(all, Range{First: f.Sequence, Files: map[string]int64{}})
		}
		all[len(all)-1].add(f)
		open = c.ends(i)
	}
	return all
}

// ends reports whether the next number can continue this file. Two files have one number if a process that was cut off stored the other one
// late: then one of them is enough.
func (c Listing) ends(i int) bool {
	if i+1 < len(c) && c[i+1].Sequence == c[i].Sequence {
		return true
	}
	for j := i; j >= 0 && c[j].Sequence == c[i].Sequence; j-- {
		if c[j].Done() || c.settled(j) {
			return true
		}
	}
	return false
}

// add continues the range by a file.
func (r *Range) add(f File) {
	r.Last = f.Sequence
	if f.Record != "" {
		return
	}
	r.Files[f.Name] = f.Sequence
	for _, mark := range f.Marks {
		r.marks = append(r.marks, placed{f.Sequence, mark})
	}
}

// leave forgets the marks that say nothing about the history that the database has now. A mark before the place of the fork stays: both
// histories have what follows it. A mark at that place does not: the server that gave it may have been alone by then. What ended before
// that mark, as a backup, both histories have.
func (r *Range) leave(fork File) {
	left, known := r.Files[fork.Name]
	if !known && fork.Size == 0 { // at the end of a file, and the archive did not get the next one
		last := r.before(fork.Name)
		left, known = last+1, last >= 0
	}
	order := func(mark placed) int {
		switch {
		case !known:
			return 1
		case fork.Size == 0: // at the end of the file before
			return cmp.Compare(mark.sequence, left-1)
		}
		return mark.compare(left, fork.Size)
	}
	r.marks = slices.DeleteFunc(r.marks, func(mark placed) bool { return order(mark) > 0 })
	r.turns = append(r.turns, turn{fork.Sequence, newest(r.marks)})
	r.marks = slices.DeleteFunc(r.marks, func(mark placed) bool { return order(mark) == 0 })
}

// has reports whether a backup is of the history that the database has now: no fork came between its beginning, in this file, and its end.
func (r *Range) has(b BaseBackup, begin int64) bool {
	return !slices.ContainsFunc(r.turns, func(t turn) bool { return t.sequence >= begin && t.until.Before(b.Ended) })
}
