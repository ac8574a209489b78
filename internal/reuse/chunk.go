/*
SPDX-License-Identifier: Apache-2.0
*/

package reuse

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	chunkers "github.com/PlakarKorp/go-cdc-chunkers"
	_ "github.com/PlakarKorp/go-cdc-chunkers/chunkers/fastcdc" // registers the algorithm
)

// Chunk is a part of the data.
type Chunk struct {
	Sum    Sum
	Length uint32
}

// Sum identifies the content of a chunk: 192 bits of its SHA-256. Also who can choose the content of the database cannot find two
// contents with one sum.
type Sum [24]byte

// chunkBytes is the size of an encoded chunk.
const chunkBytes = len(Sum{}) + 4

// Of returns the chunk with the content.
func Of(content []byte) Chunk {
	whole := sha256.Sum256(content)
	return Chunk{Sum(whole[:len(Sum{})]), uint32(len(content))} //nolint:gosec // at most maxChunk
}

func (c Chunk) append(into []byte) []byte {
	return binary.LittleEndian.AppendUint32(append(into, c.Sum[:]...), c.Length)
}

func decodeChunk(from []byte) Chunk {
	return Chunk{Sum(from[:len(Sum{})]), binary.LittleEndian.Uint32(from[len(Sum{}):chunkBytes])}
}

// Cutter cuts data into the contents of chunks.
type Cutter struct{ chunks *chunkers.Chunker }

// Cut starts to cut the data. The version in the name of the algorithm fixes the cuts: other cuts would find no earlier chunk.
func Cut(data io.Reader) (Cutter, error) {
	chunks, err := chunkers.NewChunker("fastcdc-v1.0.0", data,
		&chunkers.ChunkerOpts{MinSize: minChunk, NormalSize: usualChunk, MaxSize: maxChunk})
	if err != nil {
		return Cutter{}, fmt.Errorf("cut the data: %w", err)
	}
	return Cutter{chunks}, nil
}

// Next returns the next content, which is valid until the next call, or io.EOF.
func (c Cutter) Next() ([]byte, error) {
	content, err := c.chunks.Next()
	if len(content) > 0 && errors.Is(err, io.EOF) {
		return content, nil // the last one
	}
	return content, err
}
