/*
SPDX-License-Identifier: Apache-2.0
*/

package reuse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// trailerBytes is the size of the end of an index: the numbers of chunks and frames, and the size of a frame.
const trailerBytes = 24

// IndexWriter writes an index: chunks, the sizes of frames, and their numbers.
type IndexWriter struct {
	into   io.Writer
	buffer []byte
	chunks uint64
}

// NewIndexWriter writes an index into a writer, which must have a buffer.
func NewIndexWriter(into io.Writer) *IndexWriter { return &IndexWriter{into: into} }

// Add adds the next chunk of the stream.
func (w *IndexWriter) Add(chunk Chunk) error {
	w.chunks++
	w.buffer = chunk.append(w.buffer[:0])
	_, err := w.into.Write(w.buffer)
	return err
}

// End adds the stored sizes of all frames. Each has frameBytes of the stream, the last one the rest.
func (w *IndexWriter) End(frames []uint32, frameBytes int) error {
	for _, size := range frames {
		w.buffer = binary.LittleEndian.AppendUint32(w.buffer[:0], size)
		if _, err := w.into.Write(w.buffer); err != nil {
			return err
		}
	}
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer[:0], w.chunks)
	w.buffer = binary.LittleEndian.AppendUint64(w.buffer, uint64(len(frames)))
	_, err := w.into.Write(binary.LittleEndian.AppendUint64(w.buffer, uint64(frameBytes))) //nolint:gosec // is positive
	return err
}

// StreamIndex is a stored index.
type StreamIndex struct {
	from   io.ReaderAt
	chunks uint64
	frames uint64
	// FrameBytes is the size of each frame but the last one, uncompressed.
	FrameBytes int64
}

// maxFrameBytes bounds the memory for a frame.
const maxFrameBytes = 16 << 20

var errIndex = errors.New("the index does not have the size that it records")

// OpenIndex reads the end of an index.
func OpenIndex(from io.ReaderAt, size int64) (*StreamIndex, error) {
	end := make([]byte, trailerBytes)
	if size < trailerBytes {
		return nil, errIndex
	}
	if err := readAt(from, end, size-trailerBytes); err != nil {
		return nil, err
	}
	index := &StreamIndex{from: from, chunks: binary.LittleEndian.Uint64(end), frames: binary.LittleEndian.Uint64(end[8:])}
	index.FrameBytes = int64(binary.LittleEndian.Uint32(end[16:]))
	// Each number is checked alone before their sum, which could overflow.
	if most := uint64(size); index.chunks > most || index.frames > most || //nolint:gosec // size is positive
		index.chunks*uint64(chunkBytes)+index.frames*4+trailerBytes != most || index.FrameBytes < 1 || index.FrameBytes > maxFrameBytes {
		return nil, errIndex
	}
	return index, nil
}

// Frames returns the stored sizes of the frames.
func (i *StreamIndex) Frames() ([]uint32, error) {
	content := make([]byte, 4*i.frames)
	if err := readAt(i.from, content, i.offset(i.chunks)); err != nil {
		return nil, err
	}
	sizes := make([]uint32, i.frames)
	for n := range sizes {
		sizes[n] = binary.LittleEndian.Uint32(content[4*n:])
	}
	return sizes, nil
}

// Chunks returns a number of chunks from the given one on, or those that there are.
func (i *StreamIndex) Chunks(first, number uint64) ([]Chunk, error) {
	number = min(number, i.chunks-min(first, i.chunks))
	content := make([]byte, number*uint64(chunkBytes))
	if err := readAt(i.from, content, i.offset(first)); err != nil {
		return nil, err
	}
	chunks := make([]Chunk, number)
	for n := range chunks {
		chunks[n] = decodeChunk(content[n*chunkBytes:])
	}
	return chunks, nil
}

func (i *StreamIndex) offset(chunk uint64) int64 { return int64(chunk) * int64(chunkBytes) } //nolint:gosec // OpenIndex has checked it

// readAt fills the buffer.
func readAt(from io.ReaderAt, buffer []byte, at int64) error {
	if n, err := from.ReadAt(buffer, at); n < len(buffer) {
		return fmt.Errorf("read an index: %w", err)
	}
	return nil
}
