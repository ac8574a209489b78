/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"io"

	"filippo.io/age"
)

// age encrypts blocks of ageBlock bytes, and adds ageTag bytes to each.
const ageBlock, ageTag = 64 << 10, 16

// sealed decrypts what objects have, at any offset, by one request for each read. Without encryption it only reads.
type sealed struct {
	from *objects
	keys keys // nil without encryption
	size int64
	// ends are the header and the last block, which each read needs.
	ends    []span
	payload int64 // the offset of the first block
}

// span is a part of the objects.
type span struct {
	at      int64
	content []byte
}

// openAt opens what one of the keys can decrypt.
func (k keys) openAt(from *objects, recipient string) (*sealed, error) {
	s := &sealed{from: from, size: from.size()}
	if recipient == "" {
		return s, nil
	}
	s.keys = k
	_, plain, err := age.DecryptReaderAt(recording{s}, from.size(), k.identities()...)
	s.payload = from.size() - plain - ageTag*max(1, (plain+ageBlock-1)/ageBlock)
	s.size = plain
	return s, err
}

// recording reads from the objects and keeps what it has read.
type recording struct{ *sealed }

// ReadAt reads and keeps.
func (r recording) ReadAt(buffer []byte, offset int64) (int, error) {
	n, err := r.from.ReadAt(buffer[:min(int64(len(buffer)), r.from.size()-offset)], offset)
	r.ends = append(r.ends, span{offset, append([]byte(nil), buffer[:n]...)})
	if err == nil && n < len(buffer) {
		err = io.EOF
	}
	return n, err
}

// ReadAt fills the buffer.
func (s *sealed) ReadAt(buffer []byte, offset int64) (int, error) {
	if s.keys == nil {
		return s.from.ReadAt(buffer, offset)
	}
	first, last := offset/ageBlock, (offset+int64(len(buffer))+ageBlock-1)/ageBlock
	at := s.payload + first*(ageBlock+ageTag)
	blocks := make([]byte, min(s.payload+last*(ageBlock+ageTag), s.from.size())-at)
	if n, err := s.from.ReadAt(blocks, at); n < len(blocks) {
		return 0, err
	}
	opened, _, err := age.DecryptReaderAt(spans(append([]span{{at, blocks}}, s.ends...)), s.from.size(), s.keys.identities()...)
	if err != nil {
		return 0, err
	}
	return opened.ReadAt(buffer, offset)
}

// spans reads from the span that has the bytes.
type spans []span

// ReadAt fills the buffer.
func (s spans) ReadAt(buffer []byte, offset int64) (n int, err error) {
	for progress := true; progress && n < len(buffer); {
		progress = false
		for _, span := range s {
			if at := offset + int64(n) - span.at; at >= 0 && at < int64(len(span.content)) {
				n, progress = n+copy(buffer[n:], span.content[at:]), true
			}
		}
	}
	if n < len(buffer) {
		return n, io.EOF
	}
	return n, nil
}
