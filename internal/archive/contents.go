/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"cmp"
	"slices"
	"time"
)

// Contents are the files of an archive, in the order in which the database wrote them.
type Contents []File

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
	Record Kind
}

// At is a mark: everything that was committed until Time is before End.
type At struct {
	End  int64
	Time time.Time
}

// Read returns the contents of an archive from the names of its objects. It ignores other names.
func Read(names []string) (all Contents) {
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
	slices.SortFunc(all, func(a, b File) int { return cmp.Or(cmp.Compare(a.Sequence, b.Sequence), cmp.Compare(a.Name, b.Name)) })
	return all
}

// Last is the file at which the archive continues: the first of the newest files that is not complete, because objects are stored at the same
// time and a file can arrive before the end of the one before it. Without one it is the last file before a missing one. ok is false if the
// archive is empty, or lacks its very first file: retention keeps more files than can be on their way.
func (c Contents) Last() (last File, ok bool) {
	if len(c) == 0 || c[0].Sequence > 0 && c[len(c)-1].Sequence <= MaxObjectsInFlight {
		return File{}, false
	}
	for _, f := range c {
		switch {
		case f.Sequence+MaxObjectsInFlight < c[len(c)-1].Sequence:
		case ok && !last.Done():
			if f.Sequence > last.Sequence {
				return last, true
			}
			if f.Done() || f.Size > last.Size {
				last = f
			}
			continue
		case ok && f.Sequence > last.Sequence+1:
			return last, true
		case ok && f.Sequence == last.Sequence:
			continue
		}
		last, ok = f, true
	}
	return last, ok
}

// Find returns the file of a name: of several, for example after another primary began with the same names, the newest with the most bytes.
func (c Contents) Find(name string) (found File, ok bool) {
	for _, f := range c {
		if f.Name == name && f.Record == "" && (!ok || f.Size >= found.Size) {
			found, ok = f, true
		}
	}
	return found, ok
}

// Done reports whether the file does not grow.
func (f File) Done() bool { return f.Complete || f.Record != "" }

// fileOf puts the pieces of one file together.
func fileOf(pieces []Piece) File {
	f := File{Sequence: pieces[0].Sequence, Name: pieces[0].File, Pieces: longest(pieces), Forked: forked(pieces)}
	for _, p := range pieces {
		if p.Kind == Gap || p.Kind == Fork {
			return File{Sequence: p.Sequence, Name: p.File, Size: p.End, Record: p.Kind}
		}
		if !p.Mark.IsZero() {
			f.Marks = append(f.Marks, At{p.End, p.Mark})
		}
	}
	if len(f.Pieces) > 0 {
		f.Size = f.Pieces[len(f.Pieces)-1].End
	}
	if whole, complete := fullest(pieces); complete {
		f.Pieces, f.Complete, f.Surplus = []Piece{whole}, true, max(0, f.Size-whole.End)
		f.Size = whole.End
	}
	return f
}

// fullest is the longest complete version of a file.
func fullest(pieces []Piece) (whole Piece, ok bool) {
	for _, p := range pieces {
		if p.Kind == Full && (!ok || p.End > whole.End) {
			whole, ok = p, true
		}
	}
	return whole, ok
}

// longest returns the pieces that continue each other from the beginning of the file and reach furthest.
func longest(pieces []Piece) (run []Piece) {
	type place struct {
		at    int64
		bytes Digest
	}
	came := map[place]*Piece{{0, Nothing}: nil}
	ordered := slices.DeleteFunc(slices.Clone(pieces), func(p Piece) bool { return p.Empty() })
	slices.SortFunc(ordered, func(a, b Piece) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Name(), b.Name())) })
	best := place{0, Nothing}
	for i := range ordered {
		p := &ordered[i]
		end := place{p.End, p.After}
		if _, starts := came[place{p.From, p.Before}]; !starts || came[end] != nil {
			continue
		}
		came[end] = p
		if end.at > best.at {
			best = end
		}
	}
	for p := came[best]; p != nil; p = came[best] {
		run, best = append(run, *p), place{p.From, p.Before}
	}
	slices.Reverse(run)
	return run
}

// forked reports whether two pieces prove different bytes: one offset with two digests.
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
