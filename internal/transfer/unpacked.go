/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
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
	assembly     *assembly // in place of the pieces if other streams have a part of the data
	raw          hash.Hash // of everything that was read from data
	stored, data *ahead
	decompressor *zstd.Decoder
}

// assemble starts to read the pieces of several streams.
func (u *unpacked) assemble(ctx context.Context, r *restoreRun, stream *protocol.Stream, storedBytes io.Writer) (err error) {
	u.assembly, err = openAssembly(shelves{ctx, r.keys, u.pieces.patient, storedBytes}, r.Restore, u.pieces.store, stream)
	if err == nil {
		u.data = readAhead(io.TeeReader(u.assembly, u.raw))
	}
	return err
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
	if u.assembly != nil {
		u.assembly.close()
	}
	if u.decompressor != nil {
		u.decompressor.Close()
	}
	if u.stored != nil {
		u.stored.close()
	}
}

// release ends all steps for good.
func (u *unpacked) release() {
	u.close()
	if u.assembly != nil {
		u.assembly.release()
	}
}

// culprit returns the error of the first damaged object, or nil. close must have been called.
func (u *unpacked) culprit() error {
	if u.assembly != nil {
		return u.assembly.culprit()
	}
	return u.pieces.culprit()
}
