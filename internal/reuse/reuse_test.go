/*
SPDX-License-Identifier: Apache-2.0
*/

package reuse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// noise returns bytes that do not repeat.
func noise(seed byte, size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{seed}).Read(content) // never fails
	return content
}

// cut returns the chunks of the data.
func cut(t *testing.T, data []byte) (all []Chunk) {
	t.Helper()
	cutter, err := Cut(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for length := 0; ; {
		content, err := cutter.Next()
		if errors.Is(err, io.EOF) {
			if length != len(data) {
				t.Fatalf("the chunks have %d bytes, the data %d", length, len(data))
			}
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		length += len(content)
		all = append(all, Of(content))
	}
}

// indexOf returns the index of a stream with the chunks.
func indexOf(t *testing.T, chunks []Chunk, frames ...uint32) *StreamIndex {
	t.Helper()
	var written bytes.Buffer
	index := NewIndexWriter(&written)
	for _, chunk := range chunks {
		if err := index.Add(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := index.End(frames, 100); err != nil {
		t.Fatal(err)
	}
	read, err := OpenIndex(bytes.NewReader(written.Bytes()), int64(written.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// The cuts of an algorithm that changes would find no earlier chunk, so each backup would store everything once more.
func TestTheCutsDoNotChange(t *testing.T) {
	chunks := cut(t, noise(1, 1<<20))
	sum := Of(nil)
	for _, chunk := range chunks {
		sum = Of(chunk.append(sum.Sum[:]))
	}
	if got := binary.BigEndian.Uint64(sum.Sum[:]); len(chunks) != 222 || got != 0x8b7c238014c2f097 {
		t.Errorf("%d chunks, %#x", len(chunks), got)
	}
}

func TestAnInsertionChangesTheChunksAroundItOnly(t *testing.T) {
	data := noise(2, 4<<20)
	before := map[Sum]bool{}
	for _, chunk := range cut(t, data) {
		before[chunk.Sum] = true
	}
	changed := append(append(bytes.Clone(data[:2<<20]), "a few bytes"...), data[2<<20:]...)
	others := 0
	for _, chunk := range cut(t, changed) {
		if !before[chunk.Sum] {
			others++
		}
	}
	if others == 0 || others > 3 {
		t.Errorf("%d chunks are others", others)
	}
}

func TestAnIndexIsReadAsItWasWritten(t *testing.T) {
	chunks := cut(t, noise(3, 1<<20))
	index := indexOf(t, chunks, 70, 80)
	frames, err := index.Frames()
	if err != nil || !reflect.DeepEqual(frames, []uint32{70, 80}) || index.FrameBytes != 100 {
		t.Errorf("frames %v of %d: %v", frames, index.FrameBytes, err)
	}
	if got, err := index.Chunks(0, 1<<20); err != nil || !reflect.DeepEqual(got, chunks) {
		t.Errorf("%d chunks of %d: %v", len(got), len(chunks), err)
	}
	if got, err := index.Chunks(7, 2); err != nil || !reflect.DeepEqual(got, chunks[7:9]) {
		t.Errorf("%v: %v", got, err)
	}
	if got, err := index.Chunks(1<<40, 2); err != nil || len(got) != 0 {
		t.Errorf("%v: %v", got, err)
	}
}

func TestADamagedIndexIsRefused(t *testing.T) {
	end := func(chunks, frames, frameBytes uint64) []byte {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, chunks), frames), frameBytes)
	}
	for name, content := range map[string][]byte{
		"empty":            nil,
		"cut":              end(0, 0, 100)[:20],
		"too few chunks":   end(1, 0, 100),
		"too few frames":   end(0, 1, 100),
		"an overflow":      end(1<<62, 1<<62, 100),
		"frames of 0":      end(0, 0, 0),
		"frames of 1 GiB":  end(0, 0, 1<<30),
		"bytes in between": append(noise(4, 7), end(0, 0, 100)...),
	} {
		if _, err := OpenIndex(bytes.NewReader(content), int64(len(content))); err == nil {
			t.Errorf("%s: it is accepted", name)
		}
	}
}

func TestAnOrderIsReadAsItWasWritten(t *testing.T) {
	var written bytes.Buffer
	order := NewOrderWriter(&written)
	for _, part := range []Run{{0, 0, 5}, {0, 5, 5}, {1, 100, 7}, {1, 107, 1}, {2, 0, 9}, {1, 108, 2}, {1, 4, 2}, {0, 10, 3}} {
		if err := order.Add(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := order.End(); err != nil {
		t.Fatal(err)
	}
	want := []Run{{0, 0, 10}, {1, 100, 8}, {2, 0, 9}, {1, 108, 2}, {1, 4, 2}, {0, 10, 3}}
	reader := NewOrderReader(bytes.NewReader(written.Bytes()))
	for _, run := range want {
		if got, err := reader.Next(); err != nil || got != run {
			t.Errorf("%+v, %v; want %+v", got, err, run)
		}
	}
	if _, err := reader.Next(); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	for range 3 {
		if err := order.Add(Run{3, 50, 9}); err != nil {
			t.Fatal(err)
		}
	}
	if order.Used(3) != 9 {
		t.Errorf("a repetition is counted: %d", order.Used(3))
	}
	order.used[3] = 0
	if order.Used(0) != 13 || order.Used(1) != 12 || order.Used(2) != 9 || order.Used(3) != 0 {
		t.Error(order.used)
	}
}

func TestADamagedOrderIsRefused(t *testing.T) {
	record := func(source uint64, offset, length int64) []byte {
		return binary.AppendVarint(binary.AppendVarint(binary.AppendUvarint(nil, source), offset), length)
	}
	for name, content := range map[string][]byte{
		"cut":                 record(1, 5, 1000)[:3],
		"an unknown source":   record(9, 5, 5),
		"a negative offset":   record(0, -1, 5),
		"a negative length":   record(0, 0, -1),
		"no length":           record(0, 0, 0),
		"an offset too large": record(0, 1<<62, 1<<62),
	} {
		if _, err := NewOrderReader(bytes.NewReader(content)).Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// many returns chunks of a database that is larger than the memory of Known.
func many(number int) []Chunk {
	chunks := make([]Chunk, number)
	for n := range chunks {
		chunks[n] = Of(binary.BigEndian.AppendUint64(nil, uint64(n)))
		chunks[n].Length = uint32(4096 + n%8192)
	}
	return chunks
}

func TestChunksAreFoundInBoundedMemory(t *testing.T) {
	chunks := many(1 << 20)
	known, err := NewKnown([]*StreamIndex{indexOf(t, chunks[:1<<18]), indexOf(t, chunks[1<<18:])})
	if err != nil {
		t.Fatal(err)
	}
	if len(known.hooks) > maxHooks {
		t.Errorf("%d hooks", len(known.hooks))
	}
	// Files in another order, with changes.
	random, found, asked := rand.New(rand.NewPCG(1, 1)), 0, 0
	for range 64 {
		first := random.IntN(len(chunks) - 8192)
		for n, chunk := range chunks[first : first+8192] {
			if n%100 == 50 {
				chunk = Of(binary.BigEndian.AppendUint64([]byte("changed"), uint64(n)))
			} else {
				asked++
			}
			run, is, err := known.Find(chunk)
			if err != nil {
				t.Fatal(err)
			}
			if is {
				found++
				want := place{0, 0, 0}
				if first+n >= 1<<18 {
					want.source = 1
				}
				if run.Source != int(want.source)+1 || run.Length != int64(chunk.Length) {
					t.Fatalf("%+v", run)
				}
			}
		}
	}
	if len(known.segments) > maxSegments || found < asked*99/100 {
		t.Errorf("%d segments, %d of %d found", len(known.segments), found, asked)
	}
}

// A backup that refers to many streams goes back and forth between them.
func TestChunksOfInterleavedStreamsAreFound(t *testing.T) {
	chunks := many(1 << 20)
	streams := make([][]Chunk, 8)
	for n, chunk := range chunks {
		at := 0
		if n%100 >= 65 {
			at = 1 + n%100%7
		}
		streams[at] = append(streams[at], chunk)
	}
	var indexes []*StreamIndex
	for _, stream := range streams {
		indexes = append(indexes, indexOf(t, stream))
	}
	known, err := NewKnown(indexes)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, chunk := range chunks {
		if _, is, err := known.Find(chunk); err != nil {
			t.Fatal(err)
		} else if is {
			found++
		}
	}
	if found < len(chunks)*999/1000 {
		t.Errorf("%d of %d found", found, len(chunks))
	}
}

func TestARunIsWhereTheChunkIs(t *testing.T) {
	data := noise(5, 3<<20)
	chunks := cut(t, data)
	known, err := NewKnown([]*StreamIndex{indexOf(t, chunks)})
	if err != nil {
		t.Fatal(err)
	}
	for _, chunk := range chunks {
		run, found, err := known.Find(chunk)
		if err != nil || !found || Of(data[run.Offset:run.Offset+run.Length]) != chunk {
			t.Fatalf("%+v, %t, %v", run, found, err)
		}
	}
	if _, found, _ := known.Find(Chunk{chunks[0].Sum, chunks[0].Length + 1}); found {
		t.Error("a chunk of another length is found")
	}
}

func stream(attempt string, fresh int64, sources ...protocol.Source) protocol.Stream {
	return protocol.Stream{Attempt: attempt, NewBytes: fresh, Index: &protocol.Piece{}, Recipient: "key", Sources: sources}
}

func source(folder string, used, fresh int64) protocol.Source {
	return protocol.Source{Number: 1, Folder: folder, UsedBytes: used, Stream: stream("a-"+folder, fresh)}
}

func TestTheStreamsToWhichTheNextBackupRefers(t *testing.T) {
	without := stream("x", 9)
	without.Index = nil
	many := stream("own", 5)
	for n := range int64(12) {
		many.Sources = append(many.Sources, source(string(rune('a'+n)), 10+n, 20))
	}
	for name, test := range map[string]struct {
		last      protocol.Stream
		recipient string
		want      string
	}{
		"the last stream":                     {stream("own", 5), "key", "last"},
		"not without an index":                {without, "key", ""},
		"not one for another key":             {stream("own", 5), "other", ""},
		"not one that is empty":               {stream("own", 0, source("one", 20, 20)), "key", "one"},
		"the most used first":                 {stream("own", 5, source("one", 6, 8), source("two", 7, 8)), "key", "two one last"},
		"not one that is used less than half": {stream("own", 5, source("one", 3, 8), source("two", 4, 8)), "key", "last two"},
		"the most used, if there are many":    {many, "key", "l k j i"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, s := range SourcesOf("last", &test.last, test.recipient) {
				if got != "" {
					got += " "
				}
				if got += s.Folder; len(s.Stream.Sources) > 0 {
					t.Errorf("%s has sources of its own", s.Folder)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestWhatBackupsNeedOfADeletedOne(t *testing.T) {
	needs := &Needed{}
	if needs.Folder("one") || needs.Object("one", "member-0/00000-0a1b2c3d.zst") {
		t.Error("nothing needs anything")
	}
	needs.Add(&protocol.Manifest{Streams: []protocol.Stream{stream("x", 1, protocol.Source{Folder: "one", Stream: protocol.Stream{Member: 1, Attempt: "0a1b2c3d"}})}})
	needs.Hold([]string{"two"})
	for object, want := range map[[2]string]bool{
		{"one", "member-1/00000-0a1b2c3d.zst"}:     true,
		{"one", "member-1/00012-0a1b2c3d.zst.age"}: true,
		{"one", "member-1/index-0a1b2c3d.bin.age"}: true,
		{"one", "member-0/00000-0a1b2c3d.zst"}:     false,
		{"one", "member-1/00000-1a1b2c3d.zst"}:     false,
		{"one", "manifest.json"}:                   false,
		{"two", "member-7/00000-1a1b2c3d.zst"}:     true,
		{"three", "member-1/00000-0a1b2c3d.zst"}:   false,
	} {
		if got := needs.Object(object[0], object[1]); got != want {
			t.Errorf("%v: %t", object, got)
		}
	}
	if !needs.Folder("one") || !needs.Folder("two") || needs.Folder("three") {
		t.Errorf("%+v", needs)
	}
}
