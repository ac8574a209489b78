/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// commit is a byte that the database wrote at a time.
type commit struct {
	value byte
	at    time.Time
}

// history is a timeline of the database. Its files before number fork are those of its parent; of file fork it has the first bytes in common.
type history struct {
	number, fork, size int
	files              [][]commit // by number; the last one grows
}

func (h *history) name(file int) string { return fmt.Sprintf("h%02d.%03d", h.number, file) }

// world is a database, an archive, and objects that are on their way.
type world struct {
	*testing.T
	random    *rand.Rand
	histories []*history
	stored    map[string][]byte
	flight    []Upload // sent, not durable yet
	late      []Upload // of processes that have ended
	now       time.Time
}

const fileSize = 40

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{T: t, random: rand.New(rand.NewPCG(seed, 1)), stored: map[string][]byte{}, now: time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC)}
	w.histories = []*history{{files: [][]commit{nil}}}
	w.write()
	return w
}

func (w *world) current() *history { return w.histories[len(w.histories)-1] }

// write lets the database commit some bytes.
func (w *world) write() {
	h := w.current()
	for range 1 + w.random.IntN(50) {
		w.now = w.now.Add(time.Second)
		last := len(h.files) - 1
		h.files[last] = append(h.files[last], commit{byte(w.random.Uint32()), w.now})
		if len(h.files[last]) == fileSize {
			h.files = append(h.files, nil)
		}
	}
}

// fail makes another server the primary. It may lack the last bytes, whether the archive has them or not.
func (w *world) fail() {
	was := w.current()
	all := (len(was.files)-1)*fileSize + len(was.files[len(was.files)-1])
	keep := max(all-w.random.IntN(30), was.fork*fileSize+was.size)
	h := &history{number: was.number + 1, fork: keep / fileSize, size: keep % fileSize}
	for _, file := range was.files[:h.fork+1] {
		h.files = append(h.files, slices.Clone(file))
	}
	h.files[h.fork] = h.files[h.fork][:h.size]
	w.histories = append(w.histories, h)
	w.write()
}

// store makes some objects on their way durable, in any order: uploads run at the same time.
func (w *world) store(chance int) {
	w.flight = slices.DeleteFunc(w.flight, func(o Upload) bool {
		if w.random.IntN(100) >= chance {
			return false
		}
		w.put(o)
		return true
	})
}

func (w *world) put(o Upload) {
	w.stored[o.Name()] = o.Body
	for _, name := range o.Replaces {
		delete(w.stored, name)
	}
}

func (w *world) send(objects []Upload, err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
	for _, o := range objects {
		for len(w.flight) >= MaxObjectsInFlight {
			w.store(50)
		}
		w.flight = append(w.flight, o)
	}
	w.store(50)
}

// crash ends the process. Its objects on the way are lost, or arrive later. A late process removes nothing.
func (w *world) crash() {
	for _, o := range w.flight {
		if o.Replaces = nil; w.random.IntN(2) == 0 {
			w.late = append(w.late, o)
		}
	}
	w.flight = nil
}

func (w *world) files() Listing { return Read(slices.Collect(maps.Keys(w.stored))) }

// bytesOf are the bytes of a file in the archive.
func (w *world) bytesOf(f File) (all []byte) {
	for _, p := range f.Pieces {
		all = append(all, w.stored[p.Name()]...)
	}
	return all
}

// live runs a process until the end of the log, or until it crashes.
func (w *world) live() (ended bool) {
	files := w.files()
	var content []byte
	if last, found := files.Last(); found && !last.Done() {
		content = w.bytesOf(last)
	}
	r := Resume(files, content, false, w.now)
	number, file, at := 0, 0, 0
	if end := r.End(); end.File != "" {
		if _, err := fmt.Sscanf(end.File, "h%d.%d", &number, &file); err != nil {
			w.Fatal(err)
		}
		at = int(end.End)
		switch {
		case end.Kind == Fork:
			number, at = number+1, 0
		case end.Kind != Part:
			file, at = file+1, 0
		case w.random.IntN(2) == 0:
			at = w.random.IntN(at + 1) // the database sends some of it again
		}
	}
	primary := w.current()
	if number < primary.number && w.random.IntN(3) == 0 { // an old primary that cannot reach the others still answers
		primary = w.histories[number]
	}
	for ; number < primary.number; number, at = number+1, 0 {
		next := w.histories[number+1]
		if file*fileSize+at <= next.fork*fileSize+next.size && !w.follow(r, w.histories[number], file, at, next.fork, next.size) {
			return false
		}
		w.send(r.Record(Fork, w.histories[number].name(next.fork), int64(next.size)))
		file = next.fork
	}
	if !w.follow(r, primary, file, at, len(primary.files)-1, len(primary.files[len(primary.files)-1])) {
		return false
	}
	r.Mark(w.now)
	w.send(r.Cut(), nil)
	w.send(r.Idle(), nil)
	w.store(100)
	return primary == w.current()
}

// knows reports whether the archive knows that the database has its current history.
func (w *world) knows() bool {
	h := w.current()
	return h.number == 0 || slices.ContainsFunc(w.files(), func(f File) bool {
		return f.Record == Fork && f.Name == w.histories[h.number-1].name(h.fork)
	})
}

// follow sends the files of a history up to a place. It returns false if the process crashes.
func (w *world) follow(r *Recorder, h *history, file, at, last, size int) bool {
	for ; file <= last; file, at = file+1, 0 {
		body := h.files[file]
		if file == last {
			body = body[:size]
		}
		for at < len(body) {
			n := 1 + w.random.IntN(len(body)-at)
			if err := r.Data(h.name(file), int64(at), valuesOf(body[at:at+n])); err != nil {
				w.Fatal(err)
			}
			at += n
			if w.random.IntN(2) == 0 {
				r.Mark(body[at-1].at)
			}
			if w.random.IntN(2) == 0 {
				w.send(r.Cut(), nil)
			}
			w.send(r.Idle(), nil)
			if w.random.IntN(15) == 0 {
				w.crash()
				return false
			}
		}
		if len(body) == fileSize {
			w.send(r.Complete(h.name(file), fileSize))
		}
	}
	return true
}

func valuesOf(commits []commit) (values []byte) {
	for _, c := range commits {
		values = append(values, c.value)
	}
	return values
}

// check compares the archive with what the database has. Nothing that its marks promise is missing.
func (w *world) check(whole bool) error {
	ranges := w.files().Ranges()
	if whole && len(ranges) != 1 {
		return fmt.Errorf("%d ranges: %+v", len(ranges), ranges)
	}
	newest := time.Time{}
	if len(ranges) > 0 { // what follows the first one waits for objects on their way
		newest = ranges[0].Newest()
	}
	h := w.current()
	if whole && !newest.Equal(w.now) {
		return fmt.Errorf("everything is stored until %s, and the newest mark is %s", w.now, newest)
	}
	for file, commits := range h.files {
		promised := valuesOf(slices.DeleteFunc(slices.Clone(commits), func(c commit) bool { return c.at.After(newest) }))
		if !w.has(h, file, promised) {
			return fmt.Errorf("until %s, file %d of %+v has to have %x", newest, file, h, promised)
		}
	}
	return nil
}

// has reports whether the archive has the bytes in this file of a history, or of one that it continues.
func (w *world) has(h *history, file int, promised []byte) bool {
	for ; ; h = w.histories[h.number-1] {
		found, _ := w.files().Find(h.name(file))
		if bytes.HasPrefix(w.bytesOf(found), promised) {
			return true
		}
		if h.number == 0 || h.fork < file || h.fork == file && h.size < len(promised) {
			return false
		}
	}
}

func TestAnArchiveHasWhatItsMarksPromise(t *testing.T) {
	crashes, failovers, judged := 0, 0, 0
	for seed := range uint64(1000) {
		w := newWorld(t, seed)
		for range 3 + w.random.IntN(6) {
			switch w.random.IntN(4) {
			case 0:
				w.fail()
				failovers++
			case 1:
				w.write()
			}
			whole := w.live()
			if !whole {
				crashes++
			}
			if w.random.IntN(2) == 0 { // otherwise another process starts before the objects of the last one arrive
				for _, o := range w.late {
					w.put(o)
				}
				w.late = nil
			}
			if whole || w.knows() {
				judged++
				if err := w.check(whole); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, objectsOf(w))
				}
			}
		}
	}
	if crashes < 1000 || failovers < 1000 || judged < 4000 {
		t.Errorf("only %d crashes, %d failovers, %d archives judged", crashes, failovers, judged)
	}
}

func objectsOf(w *world) (text string) {
	for _, name := range slices.Sorted(maps.Keys(w.stored)) {
		text += name + "\n"
	}
	return text
}
