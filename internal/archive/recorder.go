/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"
	"time"
)

// Upload is a piece to store with its bytes. When it is durable, the objects in Replaces are no longer needed.
type Upload struct {
	Piece
	Body     []byte
	Replaces []string
}

// Recorder turns what an action sends into objects. It has the file that grows in memory.
type Recorder struct {
	encrypted bool
	next      int64 // the number of the next file
	growing   *growing
	last      Piece     // the last object: where the archive ends
	marked    time.Time // the newest mark of the action
	branched  string
}

// growing is the file that is not complete. Its bytes up to cut are in objects.
type growing struct {
	Piece // the sequence, the name, and as End and After what is in objects
	bytes []byte
	sum   hash.Hash // of bytes
	parts []string  // the objects that have them
}

// Resume continues an archive, or begins one. Content are the bytes of its last file, if that is not complete.
func Resume(files Listing, content []byte, encrypted bool, now time.Time) *Recorder {
	r := &Recorder{encrypted: encrypted}
	last, found := files.Last()
	if !found {
		r.next = files.first(now)
		return r
	}
	r.next = last.Sequence + 1
	r.last = Piece{Sequence: last.Sequence, File: last.Name, From: last.Size, End: last.Size, Kind: last.Record}
	r.last.Before, r.last.After = Nothing, Nothing
	for _, p := range last.Pieces {
		r.last.Before, r.last.After = p.After, p.After
	}
	r.last.Mark = last.marked()
	r.marked = r.last.Mark // an object that replaces others must not lose their marks
	if last.Complete {
		r.last.Kind = Full
	}
	if r.last.Kind != "" {
		return r
	}
	g := &growing{Piece: r.last, bytes: content, sum: sha256.New()}
	g.sum.Write(content)
	for _, p := range last.Pieces {
		g.parts = append(g.parts, p.Name())
	}
	r.growing = g
	return r
}

// End is the last object, after which the action continues: at its offset, or earlier in the same file. File is "" for an empty archive.
// Kind is Part while the file grows.
func (r *Recorder) End() Piece {
	end := r.last
	if r.growing != nil {
		end.Kind = Part
	}
	return end
}

// Branched returns the file of which the database sent other bytes than the archive has, and forgets it; "" for none.
func (r *Recorder) Branched() (file string) {
	file, r.branched = r.branched, ""
	return file
}

// Pending is the number of bytes that are in no object yet.
func (r *Recorder) Pending() int64 {
	if r.growing == nil {
		return 0
	}
	return int64(len(r.growing.bytes)) - r.growing.End
}

// Data is more of a file. It may repeat bytes that the archive has.
func (r *Recorder) Data(file string, offset int64, body []byte) error {
	if r.growing == nil && offset == 0 {
		r.growing = &growing{Piece: Piece{Sequence: r.next, File: file, Before: Nothing, After: Nothing}, sum: sha256.New()}
		r.next++
	}
	g := r.growing
	switch {
	case g == nil:
		return fmt.Errorf("%s begins at offset %d: send a new file from its beginning", file, offset)
	case g.File != file:
		return fmt.Errorf("%s begins before the end of %s: end that file first", file, g.File)
	case offset > int64(len(g.bytes)):
		return fmt.Errorf("%s continues at offset %d after %d bytes: send every byte", file, offset, len(g.bytes))
	case offset+int64(len(body)) > MaxFileBytes:
		return fmt.Errorf("%s is larger than %d bytes: end it and begin another file", file, MaxFileBytes)
	}
	known := min(int64(len(body)), int64(len(g.bytes))-offset)
	if !bytes.Equal(g.bytes[offset:offset+known], body[:known]) {
		r.branch(offset)
		known = 0
	}
	if size := offset + int64(len(body)); size > roomBytes && int64(cap(g.bytes)) < size {
		g.bytes = append(make([]byte, 0, MaxFileBytes), g.bytes...) // once, and not at each doubling
	}
	g.bytes = append(g.bytes, body[known:]...)
	g.sum.Write(body[known:])
	return nil
}

// branch keeps the bytes before the offset, and stores them again beside the objects that have other bytes after it.
func (r *Recorder) branch(offset int64) {
	g := r.growing
	r.branched, r.marked = g.File, time.Time{} // the mark was about the other bytes
	g.bytes = g.bytes[:offset:offset]
	g.sum = sha256.New()
	g.sum.Write(g.bytes)
	r.Again()
}

// Parts returns the names of the objects that have the bytes of the file that grows.
func (r *Recorder) Parts() []string {
	if r.growing == nil {
		return nil
	}
	return slices.Clone(r.growing.parts)
}

// Again forgets these objects, because one of them is lost. So the next object has all bytes of the file.
func (r *Recorder) Again() { r.growing.parts, r.growing.End, r.growing.After = nil, 0, Nothing }

// Cut returns an object with the bytes that are in none yet.
func (r *Recorder) Cut() []Upload {
	if r.Pending() == 0 {
		return nil
	}
	return []Upload{r.cut(Part)}
}

// cut returns an object with the bytes that are in none yet, perhaps none.
func (r *Recorder) cut(kind PieceKind) Upload {
	g := r.growing
	o := Upload{Body: g.bytes[g.End:len(g.bytes):len(g.bytes)]}
	o.Piece = r.piece(g, kind, g.End, int64(len(g.bytes)))
	o.Before, o.After = g.After, DigestOf(g.sum.Sum(nil))
	g.End, g.After, g.parts = o.End, o.After, append(g.parts, o.Name())
	r.last = o.Piece
	return o
}

// Complete ends a file. Its bytes after size, of a history that the database has given up, stay in objects of their own.
func (r *Recorder) Complete(file string, size int64) ([]Upload, error) {
	g := r.growing
	if g == nil || g.File != file || int64(len(g.bytes)) < size {
		return nil, fmt.Errorf("%s ends at offset %d, and the archive does not have all of it: send it first", file, size)
	}
	surplus := int64(len(g.bytes)) > size
	if !surplus && len(g.parts) < maxParts {
		o := r.cut(Tail)
		r.growing = nil
		return []Upload{o}, nil
	}
	all := r.Cut()
	sum := sha256.Sum256(g.bytes[:size])
	o := Upload{Body: g.bytes[:size:size]}
	o.Piece = r.piece(g, Full, 0, size)
	o.Before, o.After = Nothing, DigestOf(sum[:])
	if surplus {
		o.Mark, r.marked = time.Time{}, time.Time{} // it may be about the bytes that the database has given up
	} else {
		o.Replaces = g.parts
	}
	r.growing, r.last = nil, o.Piece
	return append(all, o), nil
}

// Whole is a small file that is complete at once.
func (r *Recorder) Whole(file string, body []byte) ([]Upload, error) {
	if err := r.Data(file, 0, body); err != nil {
		return nil, err
	}
	return r.Complete(file, int64(len(body)))
}

// Record stores a Gap or a Fork: a fact about a file at an offset. The file that grows does not grow any more.
func (r *Recorder) Record(kind PieceKind, file string, offset int64) ([]Upload, error) {
	all := r.Cut()
	if g := r.growing; kind == Fork && g != nil && g.File == file && g.End < offset {
		return all, fmt.Errorf("%s forks at offset %d, and the archive has only %d bytes: send it first", file, offset, g.End)
	}
	r.growing, r.marked = nil, time.Time{} // the marks were about the history before
	o := Upload{Piece: r.piece(&growing{Piece: Piece{Sequence: r.next, File: file}}, kind, offset, offset)}
	o.Before, o.After = Nothing, Nothing
	r.next++
	r.last = o.Piece
	return append(all, o), nil
}

// Mark records that everything that was committed until a time has been sent. An earlier time than before corrects a wrong clock.
func (r *Recorder) Mark(until time.Time) { r.marked = until.Truncate(time.Millisecond) }

// Idle returns an object that has only the newest mark, or none if the last object has it.
func (r *Recorder) Idle() []Upload {
	if r.last.File == "" || r.Pending() > 0 || r.marked.IsZero() || r.marked.Equal(r.last.Mark) || r.last.Kind == Gap || r.last.Kind == Fork {
		return nil
	}
	o := Upload{Piece: r.last}
	o.Kind, o.From, o.Before, o.Mark, o.Encrypted = Mark, o.End, o.After, r.marked, r.encrypted
	if r.last.Kind == Mark {
		o.Replaces = []string{r.last.Name()}
	}
	r.last = o.Piece
	return []Upload{o}
}

func (r *Recorder) piece(g *growing, kind PieceKind, from, end int64) Piece {
	return Piece{Sequence: g.Sequence, File: g.File, From: from, End: end, Kind: kind, Mark: r.marked, Encrypted: r.encrypted}
}
