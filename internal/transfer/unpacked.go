/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// unpacked is the data of a stream. Each arrow is a bounded buffer between steps that run at the same time:
//
//	store, SHA-256 of the pieces -> age, zstd -> SHA-256 of the data -> consumer
type unpacked struct {
	pieces       *joiner
	raw          hash.Hash // of everything that was read from data
	stored, data *ahead
	decompressor *zstd.Decoder
}

// open starts to read the pieces.
func (u *unpacked) open(keys keys, stream *protocol.Stream, storedBytes io.Writer) error {
	u.stored = readAhead(io.TeeReader(u.pieces, storedBytes))
	decrypted, err := keys.decrypt(stream, u.stored)
	if err != nil {
		return err
	}
	u.decompressor, err = zstd.NewReader(decrypted, zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderConcurrency(zstdBlocks))
	if err != nil {
		return fmt.Errorf("create the decompressor: %w", err)
	}
	u.data = readAhead(io.TeeReader(u.decompressor, u.raw))
	return nil
}

// close ends all steps, the last one first, because each reads the one before. It may be called again.
func (u *unpacked) close() {
	if u.data != nil {
		u.data.close()
	}
	if u.decompressor != nil {
		u.decompressor.Close()
	}
	if u.stored != nil {
		u.stored.close()
	}
}
