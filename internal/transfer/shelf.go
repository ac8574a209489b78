/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/reuse"
)

// objects reads objects after each other, at any offset. It reads windowBytes at once, because its readers ask for little and go forward.
type objects struct {
	ctx     context.Context //nolint:containedctx // has the lifetime of the reader
	store   *store
	pieces  []protocol.Piece
	patient idleTimeout
	stored  io.Writer // counts

	sync.Mutex
	window []byte
	at     int64 // the offset of the window
}

func (o *objects) size() (bytes int64) {
	for _, piece := range o.pieces {
		bytes += piece.Bytes
	}
	return bytes
}

// ReadAt fills the buffer.
func (o *objects) ReadAt(buffer []byte, offset int64) (n int, err error) {
	o.Lock()
	defer o.Unlock()
	for n < len(buffer) {
		at := offset + int64(n)
		if at < o.at || at >= o.at+int64(len(o.window)) {
			if err := o.fetch(at); err != nil {
				return n, err
			}
		}
		n += copy(buffer[n:], o.window[at-o.at:])
	}
	return n, nil
}

// fetch reads the window at an offset, at most to the end of a piece.
func (o *objects) fetch(offset int64) error {
	within := offset
	for _, piece := range o.pieces {
		if within >= piece.Bytes {
			within -= piece.Bytes
			continue
		}
		if o.window == nil {
			o.window = make([]byte, windowBytes)
		}
		o.window, o.at = o.window[:min(windowBytes, piece.Bytes-within)], offset
		reader := &resumingReader{ctx: o.ctx, store: o.store, name: piece.Name, patient: o.patient, offset: within, until: within + int64(len(o.window))}
		defer reader.Close() //nolint:errcheck // only read
		n, err := io.ReadFull(reader, o.window)
		_, _ = o.stored.Write(o.window[:n]) // a counter does not fail
		if err != nil {
			o.window = o.window[:0]
		}
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return failf(protocol.BackupCorrupt, "%s is shorter than its %d bytes. Create another backup.", o.store.URL(piece.Name), piece.Bytes)
		}
		return err
	}
	return io.EOF
}

// openAt decrypts what objects have, at any offset.
func (k keys) openAt(from *objects, recipient string) (io.ReaderAt, int64, error) {
	if recipient == "" {
		return from, from.size(), nil
	}
	return age.DecryptReaderAt(from, from.size(), k.identities()...)
}

// openIndex opens the index of a stream.
func openIndex(ctx context.Context, store *store, keys keys, stream *protocol.Stream, patient idleTimeout) (*reuse.StreamIndex, error) {
	if stream.Index == nil {
		return nil, failf(protocol.ManifestInvalid, "The stream of member %d in %s has no index. Create another backup.", stream.Member, store.URL(""))
	}
	from, size, err := keys.openAt(&objects{
		ctx: ctx, store: store, pieces: []protocol.Piece{*stream.Index}, patient: patient, stored: &counter{},
	}, stream.Recipient)
	if err != nil {
		return nil, unreadable(store, stream.Index.Name, err)
	}
	index, err := reuse.OpenIndex(from, size)
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
	packed     io.ReaderAt // decrypted
	starts     []int64     // of the frames in packed, and the end
	frameBytes int64
	decoder    *zstd.Decoder
}

// openShelf opens a stream. stored counts the bytes that it reads.
func openShelf(ctx context.Context, store *store, keys keys, stream *protocol.Stream, patient idleTimeout, stored io.Writer) (*shelf, error) {
	index, err := openIndex(ctx, store, keys, stream, patient)
	if err != nil {
		return nil, err
	}
	sizes, err := index.Frames()
	if err != nil {
		return nil, unreadable(store, stream.Index.Name, err)
	}
	s := &shelf{stream: *stream, starts: []int64{0}, frameBytes: index.FrameBytes}
	s.objects = &objects{ctx: ctx, store: store, pieces: stream.Pieces, patient: patient, stored: stored}
	for _, size := range sizes {
		s.starts = append(s.starts, s.starts[len(s.starts)-1]+int64(size))
	}
	if s.decoder, err = zstd.NewReader(nil, zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderConcurrency(zstdBlocks)); err != nil {
		return nil, fmt.Errorf("create the decompressor: %w", err)
	}
	if len(sizes) == 0 {
		return s, nil // nothing is read from it
	}
	var size int64
	if s.packed, size, err = keys.openAt(s.objects, stream.Recipient); err != nil {
		return nil, unreadable(store, stream.Pieces[0].Name, err)
	}
	if end := s.starts[len(s.starts)-1]; size != end {
		return nil, failf(protocol.BackupCorrupt, "The frames of member %d in %s have %d bytes instead of %d. Create another backup.",
			stream.Member, store.URL(""), size, end)
	}
	return s, nil
}

// frame reads and decompresses a frame.
func (s *shelf) frame(number int64) ([]byte, error) {
	if number < 0 || number >= int64(len(s.starts)-1) {
		return nil, failf(protocol.BackupCorrupt, "The stream of member %d in %s has no frame %d. Create another backup.",
			s.stream.Member, s.store.URL(""), number)
	}
	packed := make([]byte, s.starts[number+1]-s.starts[number])
	if n, err := s.packed.ReadAt(packed, s.starts[number]); n < len(packed) {
		return nil, err
	}
	return s.decoder.DecodeAll(packed, make([]byte, 0, s.frameBytes))
}
