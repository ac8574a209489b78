/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"cmp"
	"slices"
	"time"
)

// Listing has the files of an archive, in the order in which the database wrote them.
type Listing []File

// File is what an archive has of a file.
type File struct {
	Sequence int64
	Name     string
	// Pieces have the bytes of the file from its beginning to Size, without holes.
	Pieces []Piece
	Size   int64
	// Complete is true if the file does not grow any more.
	Complete bool
	// Surplus are bytes after the end of a complete file: of a history that the database has given up.
	Surplus int64
	// Forked is true if the archive has different bytes of this file for the same place.
	Forked bool
	// Marks are the marks of the file, by the offset that they are about.
	Marks []At
	// Record is Gap or Fork if this is no file, but a record about the file of this name at Size. Otherwise it is empty.
	Record PieceKind
}

// At is a mark: everything that was committed until Time is before End.
type At struct {
	End  int64
	Time time.Time
}

// Read returns the files of an archive from the names of its objects. It ignores other names.
func Read(names []string) (all Listing) {
	pieces := map[int64]map[string][]Piece{}
	for _, name := range names {
		if p, ok := Parse(name); ok {
			if pieces[p.Sequence] == nil {
				pieces[p.Sequence] = map[string][]Piece{}
			}
			pieces[p.Sequence][p.File] = append(pieces[p.Sequence][p.File], p)
		}
	}
	for _, files := range pieces {
		for _, of := range files {
			all = append(all, fileOf(of))
		}
	}
	// Of one number, a record comes last: it is about everything before it.
	slices.SortFunc(all, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.Record, b.Record), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// Last is the file at which the archive continues: the first of the newest files that is not complete, because objects are stored at the
// same time and a file can arrive before the end of the one before it. Without one it is the last file before a missing one. ok is false if
// the archive is empty, or lacks its very first file: retention keeps more files than can be on their way.
func (c Listing) Last() (last File, ok bool) {
	if len(c) == 0 || c[0].Sequence > c.begin() && c[len(c)-1].Sequence <= c.begin()+MaxObjectsInFlight {
		return File{}, false
	}
	for _, f := range c.recent() {
		if ok && (!last.Done() || f.Sequence > last.Sequence+1) {
			break
		}
		last, ok = f, true
	}
	return last, ok
}

// begin is the first number of the hour in which the last file has its number.
func (c Listing) begin() int64 { return c[len(c)-1].Sequence / filesPerHour * filesPerHour }

// first is the number with which an archive begins at a time, or with which it began if its first file was not stored.
func (c Listing) first(now time.Time) int64 {
	if len(c) > 0 {
		return c.begin()
	}
	return max(0, now.Unix()/int64(time.Hour/time.Second)*filesPerHour)
}

// recent returns the files that can have been on their way together, one for each number.
func (c Listing) recent() (all []File) {
	for i, f := range c {
		if f.Sequence+MaxObjectsInFlight < c[len(c)-1].Sequence {
			continue
		}
		f.Complete = f.Complete || c.settled(i)
		switch last := len(all) - 1; {
		case last < 0 || all[last].Sequence < f.Sequence:
			all = append(all, f)
		case !all[last].Done() && (f.Done() || f.Size > all[last].Size):
			all[last] = f
		}
	}
	return all
}

// settled reports whether a later record shows that the database does not continue a file that is not complete.
func (c Listing) settled(i int) bool {
	f := c[i]
	return !f.Done() && slices.ContainsFunc(c[i:], func(later File) bool {
		return later.Record == Gap || later.Record == Fork && (later.Name != f.Name || later.Size <= f.Size)
	})
}

// Find returns the file of a name: of several, for example after another primary began with the same names, the newest with the most bytes.
func (c Listing) Find(name string) (found File, ok bool) {
	for _, f := range c {
		if f.Name == name && f.Record == "" && (!ok || f.Size >= found.Size) {
			found, ok = f, true
		}
	}
	return found, ok
}

// Done reports whether the file does not grow.
func (f File) Done() bool { return f.Complete || f.Record != "" }

// marked is the newest mark that is true of the bytes with which the archive continues. A mark after them is of a history that the database
// has given up; in a file with two histories, it can be of either.
func (f File) marked() time.Time {
	newest := At{End: -1}
	for _, mark := range f.Marks {
		further := mark.End > newest.End || mark.End == newest.End && mark.Time.After(newest.Time)
		if further && mark.End <= f.Size && !f.Forked {
			newest = mark
		}
	}
	return newest.Time
}

// fileOf puts the pieces of one file together.
func fileOf(pieces []Piece) File {
	f := File{Sequence: pieces[0].Sequence, Name: pieces[0].File, Forked: forked(pieces)}
	for _, p := range pieces {
		if p.Kind == Gap || p.Kind == Fork {
			return File{Sequence: p.Sequence, Name: p.File, Size: p.End, Record: p.Kind}
		}
	}
	ordered := inOrder(pieces)
	reached := reach(ordered)
	known := before(ordered, reached)
	for _, p := range pieces {
		// Without the bytes before it, which may be on their way, a mark promises too much.
		if known[end{p.End, p.After}] && !p.Mark.IsZero() {
			f.Marks = append(f.Marks, At{p.End, p.Mark})
		}
	}
	furthest := end{Digest: Nothing}
	for at := range reached {
		if at.at > furthest.at {
			furthest = at
		}
	}
	last, complete := ending(pieces, reached)
	if f.Complete = complete; !complete {
		last = furthest
	}
	f.Pieces, f.Size, f.Surplus = run(reached, last), last.at, furthest.at-last.at
	return f
}

// end is an offset of a file, with the bytes before it.
type end struct {
	at int64
	Digest
}

// reach returns every end that a run of pieces from the beginning of the file has, with the last piece of the run.
func reach(ordered []Piece) map[end]*Piece {
	reached := map[end]*Piece{{0, Nothing}: nil}
	for i := range ordered {
		p := &ordered[i]
		to := end{p.End, p.After}
		if _, starts := reached[end{p.From, p.Before}]; starts && reached[to] == nil {
			reached[to] = p
		}
	}
	return reached
}

// inOrder are the pieces that have bytes.
func inOrder(pieces []Piece) []Piece {
	ordered := slices.DeleteFunc(slices.Clone(pieces), func(p Piece) bool { return p.Empty() })
	slices.SortFunc(ordered, func(a, b Piece) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Name(), b.Name())) })
	return ordered
}

// before returns the ends that are reached, and those before them. A digest is of all bytes, so what leads to such an end begins at one:
// also pieces that a lost one separates from the beginning.
func before(ordered []Piece, reached map[end]*Piece) map[end]bool {
	known := map[end]bool{}
	for at := range reached {
		known[at] = true
	}
	for _, p := range slices.Backward(ordered) {
		if known[end{p.End, p.After}] {
			known[end{p.From, p.Before}] = true
		}
	}
	return known
}

// ending is the furthest end of a complete version of the file.
func ending(pieces []Piece, reached map[end]*Piece) (last end, ok bool) {
	for _, p := range pieces {
		to := end{p.End, p.After}
		if _, is := reached[to]; is && (p.Kind == Full || p.Kind == Tail) && (!ok || to.at > last.at) {
			last, ok = to, true
		}
	}
	return last, ok
}

// run returns the pieces of the run to an end.
func run(reached map[end]*Piece, to end) (pieces []Piece) {
	for p := reached[to]; p != nil; p = reached[to] {
		pieces, to = append(pieces, *p), end{p.From, p.Before}
	}
	slices.Reverse(pieces)
	return pieces
}

// forked reports whether two pieces have different bytes: one offset with two digests.
func forked(pieces []Piece) bool {
	seen := map[int64]Digest{}
	for _, p := range pieces {
		for at, digest := range map[int64]Digest{p.From: p.Before, p.End: p.After} {
			if other, found := seen[at]; found && other != digest {
				return true
			}
			seen[at] = digest
		}
	}
	return false
}
