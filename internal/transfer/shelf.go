/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/reuse"
)

// objects reads objects after each other, at any offset.
type objects struct {
	ctx     context.Context //nolint:containedctx // has the lifetime of the reader
	store   *store
	pieces  []protocol.Piece
	patient idleTimeout
	stored  io.Writer // counts
}

func (o *objects) size() (bytes int64) {
	for _, piece := range o.pieces {
		bytes += piece.Bytes
	}
	return bytes
}

// ReadAt fills the buffer, by one request for each object.
func (o *objects) ReadAt(buffer []byte, offset int64) (n int, err error) {
	for _, piece := range o.pieces {
		if offset >= piece.Bytes || n == len(buffer) {
			offset -= piece.Bytes
			continue
		}
		part := buffer[n:min(int64(len(buffer)), int64(n)+piece.Bytes-offset)]
		if err := o.read(part, piece, offset); err != nil {
			return n, err
		}
		n, offset = n+len(part), 0
	}
	if n < len(buffer) {
		return n, io.EOF
	}
	return n, nil
}

func (o *objects) read(buffer []byte, piece protocol.Piece, offset int64) error {
	reader := &resumingReader{ctx: o.ctx, store: o.store, name: piece.Name, patient: o.patient, offset: offset}
	reader.until = offset + int64(len(buffer))
	defer reader.Close() //nolint:errcheck // only read
	n, err := io.ReadFull(reader, buffer)
	_, _ = o.stored.Write(buffer[:n]) // a counter does not fail
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return failf(protocol.BackupCorrupt, "%s is shorter than its %d bytes. Create another backup.", o.store.URL(piece.Name), piece.Bytes)
	}
	return err
}

// shelves opens streams.
type shelves struct {
	ctx     context.Context //nolint:containedctx // has the lifetime of the readers
	keys    keys
	patient idleTimeout
	stored  io.Writer // counts what is read
}

func (of shelves) objects(store *store, pieces []protocol.Piece) *objects {
	return &objects{ctx: of.ctx, store: store, pieces: pieces, patient: of.patient, stored: of.stored}
}

// verify reads an object and compares it with its SHA-256.
func (of shelves) verify(store *store, pieces ...protocol.Piece) error {
	all := &joiner{ctx: of.ctx, store: store, pieces: pieces, patient: of.patient}
	_, err := io.Copy(io.Discard, all)
	return errors.Join(err, all.Close())
}

// index opens the index of a stream.
func (of shelves) index(store *store, stream *protocol.Stream) (*reuse.StreamIndex, error) {
	if stream.Index == nil {
		return nil, failf(protocol.ManifestInvalid, "The stream of member %d in %s has no index. Create another backup.",
			stream.Member, store.URL(""))
	}
	from, err := of.keys.openAt(of.objects(store, []protocol.Piece{*stream.Index}), stream.Recipient)
	if err != nil {
		return nil, unreadable(store, stream.Index.Name, err)
	}
	index, err := reuse.OpenIndex(from, from.size)
	return index, unreadable(store, stream.Index.Name, err)
}

// unreadable is the failure for an object that cannot be decoded.
func unreadable(store *store, name string, err error) error {
	if _, ok := errors.AsType[*Error](err); ok || err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return failf(protocol.BackupCorrupt, "%s cannot be read: %v. Create another backup.", store.URL(name), err)
}

// shelf is a stream from which frames are read at any place.
type shelf struct {
	*objects
	stream     protocol.Stream
	packed     *sealed
	sizes      []uint32 // of the frames in packed
	starts     []int64  // of each shelfStep-th frame
	frameBytes int64
	decoder    *zstd.Decoder
}

// shelfStep bounds the memory for the places of frames.
const shelfStep = 256

// open opens a stream.
func (of shelves) open(store *store, stream *protocol.Stream) (*shelf, error) {
	index, err := of.index(store, stream)
	if err != nil {
		return nil, err
	}
	s := &shelf{objects: of.objects(store, stream.Pieces), stream: *stream, frameBytes: index.FrameBytes}
	if s.sizes, err = index.Frames(); err != nil {
		return nil, unreadable(store, stream.Index.Name, err)
	}
	end := int64(0)
	for n, size := range s.sizes {
		if n%shelfStep == 0 {
			s.starts = append(s.starts, end)
		}
		end += int64(size)
	}
	if s.decoder, err = zstd.NewReader(nil, zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderConcurrency(zstdBlocks)); err != nil {
		return nil, fmt.Errorf("create the decompressor: %w", err)
	}
	if len(s.sizes) == 0 {
		return s, nil // nothing is read from it
	}
	if s.packed, err = of.keys.openAt(s.objects, stream.Recipient); err != nil {
		return nil, unreadable(store, stream.Pieces[0].Name, err)
	}
	if s.packed.size != end {
		return nil, failf(protocol.BackupCorrupt, "The frames of member %d in %s have %d bytes instead of %d. Create another backup.",
			stream.Member, store.URL(""), s.packed.size, end)
	}
	return s, nil
}

// frame reads and decompresses a frame.
func (s *shelf) frame(number int64) ([]byte, error) {
	if number < 0 || number >= int64(len(s.sizes)) {
		return nil, failf(protocol.BackupCorrupt, "The stream of member %d in %s has no frame %d. Create another backup.",
			s.stream.Member, s.store.URL(""), number)
	}
	start := s.starts[number/shelfStep]
	for _, size := range s.sizes[number/shelfStep*shelfStep : number] {
		start += int64(size)
	}
	packed := make([]byte, s.sizes[number])
	if n, err := s.packed.ReadAt(packed, start); n < len(packed) {
		return nil, err
	}
	return s.decoder.DecodeAll(packed, make([]byte, 0, s.frameBytes))
}
