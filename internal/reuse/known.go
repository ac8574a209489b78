/*
SPDX-License-Identifier: Apache-2.0
*/

package reuse

import (
	"encoding/binary"
	"slices"
)

const (
	// segmentChunks is the number of chunks of an index that are read at once: about 19 MiB of data.
	segmentChunks = 4096
	// maxSegments is the number of segments in memory. Each takes about 400 KiB.
	maxSegments = 32
	// scanChunks is the number of chunks that are read at once while all are.
	scanChunks = 16 * segmentChunks
	// nearEnd is the number of chunks at the end of a segment after which the next one is read.
	nearEnd = 32
	// maxHooks is the number of chunks that are found without their segment. Above it, only every second one is, then every fourth and so on:
	// the other chunks are found because data that was together is together again.
	maxHooks = 1 << 18
)

// Known finds the chunks that earlier streams have. Its memory does not depend on their number.
type Known struct {
	sources []*StreamIndex
	// starts are the offsets in each stream at which its segments begin.
	starts [][]int64
	hooks  map[uint64]place
	// A chunk is a hook if these bits of its sum are 0.
	sparse uint64
	// segments are those in memory, the last one used first.
	segments []*segment
	// last is the last chunk that was found in each source.
	last []place
	// bytes are the lengths of the sources.
	bytes []int64
}

// place is a segment of a source, and a chunk in it.
type place struct {
	source  uint8
	chunk   uint16
	segment int32
}

// segment has the chunks of a part of an index.
type segment struct {
	source uint8
	number int32
	runs   map[Sum]found
}

type found struct {
	run   Run
	chunk uint16
}

// NewKnown reads the indexes of earlier streams, once. Source 1 is the first of them.
func NewKnown(sources []*StreamIndex) (*Known, error) {
	k := &Known{sources: sources, starts: make([][]int64, len(sources)), hooks: map[uint64]place{}}
	k.last, k.bytes = make([]place, len(sources)), make([]int64, len(sources))
	for source, index := range sources {
		k.last[source] = place{uint8(source), segmentChunks - 1, -1} // as if it were before the first segment
		offset := int64(0)
		for first := uint64(0); first < index.chunks; first += scanChunks {
			chunks, err := index.Chunks(first, scanChunks)
			if err != nil {
				return nil, err
			}
			for n, chunk := range chunks {
				at := place{uint8(source), uint16(n % segmentChunks), int32(first/segmentChunks) + int32(n/segmentChunks)} //nolint:gosec // small
				if at.chunk == 0 {
					k.starts[source] = append(k.starts[source], offset)
				}
				k.hook(chunk.Sum, at)
				offset += int64(chunk.Length)
			}
		}
		k.bytes[source] = offset
	}
	return k, nil
}

// Bytes returns the length of a stream by its index.
func (k *Known) Bytes(source int) int64 { return k.bytes[source] }

func prefix(sum Sum) uint64 { return binary.LittleEndian.Uint64(sum[:]) }

// hook remembers where a chunk is, if it is one of those to remember.
func (k *Known) hook(sum Sum, at place) {
	if prefix(sum)&k.sparse != 0 {
		return
	}
	k.hooks[prefix(sum)] = at
	if len(k.hooks) <= maxHooks {
		return
	}
	k.sparse = k.sparse<<1 | 1
	thinned := make(map[uint64]place, maxHooks)
	for sum, at := range k.hooks {
		if sum&k.sparse == 0 {
			thinned[sum] = at
		}
	}
	k.hooks = thinned
}

// Find returns where an earlier stream has the chunk.
func (k *Known) Find(chunk Chunk) (run Run, is bool, err error) {
	found, is, err := k.find(chunk.Sum)
	// A chunk of another length has another content, whatever its sum is.
	return found, is && found.Length == int64(chunk.Length), err
}

func (k *Known) find(sum Sum) (Run, bool, error) {
	for n, s := range k.segments {
		if found, is := s.runs[sum]; is {
			k.use(n, found.chunk)
			return found.run, true, nil
		}
	}
	for _, at := range k.candidates(sum) {
		if k.loaded(at) {
			continue
		}
		s, err := k.load(at)
		if err != nil {
			return Run{}, false, err
		}
		k.segments = slices.Insert(k.segments[:min(len(k.segments), maxSegments-1)], 0, s)
		if found, is := s.runs[sum]; is {
			k.use(0, found.chunk)
			return found.run, true, nil
		}
	}
	return Run{}, false, nil
}

// candidates returns where the chunk may be: in the segment that follows where the last chunk of a source was at the end of one, or where
// its hook is.
func (k *Known) candidates(sum Sum) (all []place) {
	for _, last := range k.last {
		if next := last.segment + 1; last.chunk >= segmentChunks-nearEnd && int(next) < len(k.starts[last.source]) {
			all = append(all, place{last.source, 0, next})
		}
	}
	if hook, is := k.hooks[prefix(sum)]; is && prefix(sum)&k.sparse == 0 {
		all = append(all, hook)
	}
	return all
}

// use moves a segment to the front.
func (k *Known) use(n int, chunk uint16) {
	s := k.segments[n]
	copy(k.segments[1:n+1], k.segments[:n])
	k.segments[0] = s
	k.last[s.source] = place{s.source, chunk, s.number}
}

func (k *Known) loaded(at place) bool {
	return slices.ContainsFunc(k.segments, func(s *segment) bool { return s.source == at.source && s.number == at.segment })
}

func (k *Known) load(at place) (*segment, error) {
	chunks, err := k.sources[at.source].Chunks(uint64(at.segment)*segmentChunks, segmentChunks) //nolint:gosec // not negative
	if err != nil {
		return nil, err
	}
	s := &segment{at.source, at.segment, make(map[Sum]found, len(chunks))}
	offset := k.starts[at.source][at.segment]
	for n, chunk := range chunks {
		s.runs[chunk.Sum] = found{Run{int(at.source) + 1, offset, int64(chunk.Length)}, uint16(n)} //nolint:gosec // below segmentChunks
		offset += int64(chunk.Length)
	}
	return s, nil
}
