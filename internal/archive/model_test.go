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

// world is a database that writes files, an archive, and objects that are on their way.
type world struct {
	random *rand.Rand
	files  [][]byte // what the database writes
	stored map[string][]byte
	flight []Object // sent, not durable yet
	late   []Object // of processes that have ended
	now    time.Time
}

func newWorld(seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 1)), stored: map[string][]byte{}, now: time.Date(2026, 11, 27, 19, 0, 0, 0, time.UTC)}
	for range 2 + w.random.IntN(5) {
		file := make([]byte, 1+w.random.IntN(60))
		for i := range file {
			file[i] = byte(w.random.Uint32())
		}
		w.files = append(w.files, file)
	}
	return w
}

func nameOf(file int) string { return fmt.Sprintf("log.%03d", file) }

// store makes some objects on their way durable, in any order: uploads run at the same time.
func (w *world) store(chance int) {
	w.flight = slices.DeleteFunc(w.flight, func(o Object) bool {
		if w.random.IntN(100) >= chance {
			return false
		}
		w.put(o)
		return true
	})
}

func (w *world) put(o Object) {
	w.stored[o.Name()] = o.Body
	for _, name := range o.Replaces {
		delete(w.stored, name)
	}
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

func (w *world) contents() Contents { return Read(slices.Collect(maps.Keys(w.stored))) }

// bytesOf are the bytes of a file in the archive.
func (w *world) bytesOf(f File) (all []byte) {
	for _, p := range f.Pieces {
		all = append(all, w.stored[p.Name()]...)
	}
	return all
}

// live runs a process until the end of the log, or until it crashes.
func (w *world) live(t *testing.T) (ended bool) {
	contents := w.contents()
	var content []byte
	if last, found := contents.Last(); found && !last.Done() {
		content = w.bytesOf(last)
	}
	r := Resume(contents, content, false)
	file, at := 0, 0
	if end := r.End(); end.File != "" {
		if _, err := fmt.Sscanf(end.File, "log.%d", &file); err != nil {
			t.Fatal(err)
		}
		at = int(end.End)
		if end.Kind != Part {
			file, at = file+1, 0
		} else if w.random.IntN(2) == 0 {
			at = w.random.IntN(at + 1) // the database sends some of it again
		}
	}
	for ; file < len(w.files); file, at = file+1, 0 {
		if !w.write(t, r, file, at) {
			w.crash()
			return false
		}
	}
	w.store(100)
	return true
}

// write sends a file from an offset. It returns false if the process crashes.
func (w *world) write(t *testing.T, r *Recorder, file, at int) bool {
	for body := w.files[file]; at < len(body); {
		n := 1 + w.random.IntN(len(body)-at)
		if err := r.Data(nameOf(file), int64(at), body[at:at+n]); err != nil {
			t.Fatal(err)
		}
		at += n
		w.now = w.now.Add(time.Second)
		if w.random.IntN(2) == 0 {
			r.Mark(w.now)
		}
		if w.random.IntN(2) == 0 {
			w.flight = append(w.flight, r.Cut()...)
		}
		w.flight = append(w.flight, r.Idle()...)
		w.store(60)
		if w.random.IntN(12) == 0 {
			return false
		}
	}
	objects, err := r.Complete(nameOf(file), int64(len(w.files[file])))
	if err != nil {
		t.Fatal(err)
	}
	for w.flight = append(w.flight, objects...); len(w.flight) > MaxObjectsInFlight; {
		w.store(50)
	}
	return w.random.IntN(12) > 0
}

func TestAnArchiveHasEveryByteAfterAnyCrashes(t *testing.T) {
	crashes := 0
	for seed := range uint64(3000) {
		w := newWorld(seed)
		for !w.live(t) {
			crashes++
			if w.random.IntN(2) == 0 { // another process starts before the objects of the last one arrive
				for _, o := range w.late {
					w.put(o)
				}
				w.late = nil
			}
		}
		for _, o := range w.late {
			w.put(o)
		}
		found := map[string][]byte{}
		for _, f := range w.contents() {
			if f.Forked {
				t.Fatalf("seed %d: %s is forked", seed, f.Name)
			}
			if f.Complete {
				found[f.Name] = w.bytesOf(f)
			}
		}
		for i, want := range w.files {
			if !bytes.Equal(found[nameOf(i)], want) {
				t.Fatalf("seed %d: %s has %x, want %x\n%v", seed, nameOf(i), found[nameOf(i)], want, slices.Sorted(maps.Keys(w.stored)))
			}
		}
		if ranges := w.contents().Ranges(); len(ranges) != 1 {
			t.Fatalf("seed %d: %d ranges: %+v\n%v", seed, len(ranges), ranges, slices.Sorted(maps.Keys(w.stored)))
		}
	}
	if crashes < 1000 {
		t.Errorf("only %d crashes", crashes)
	}
}
