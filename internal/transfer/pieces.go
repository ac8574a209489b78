/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"os"

	"gocloud.dev/blob"
	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// cutter splits its input into pieces of at most size bytes.
type cutter struct {
	ctx     context.Context //nolint:containedctx // has the lifetime of the cutter
	store   *store
	name    func(number int) string
	pieces  []protocol.Piece
	size    int64
	patient idleTimeout
	stored  *counter
	uploads int // the number of parts of a piece that are uploaded at the same time
	// partBytes is the size of a part; 0 for the default.
	partBytes int

	current *blob.Writer
	file    *os.File // of the current piece, on a volume only
	sum     hash.Hash
	err     error
}

func (c *cutter) Write(data []byte) (int, error) {
	written := 0
	for written < len(data) && c.err == nil {
		var n int
		n, c.err = c.fill(data[written:])
		written += n
	}
	return written, c.err
}

// fill writes as much as fits into the current piece.
func (c *cutter) fill(data []byte) (int, error) {
	if c.current == nil {
		if err := c.begin(); err != nil {
			return 0, err
		}
	}
	piece := c.piece()
	data = data[:min(int64(len(data)), c.size-piece.Bytes)]
	var n int
	err := c.waiting(func() (err error) {
		n, err = c.current.Write(data)
		c.toDisk(piece.Bytes, int64(n))
		return err
	})
	c.sum.Write(data[:n])
	piece.Bytes += int64(n)
	c.stored.Add(int64(n))
	if err == nil && piece.Bytes == c.size {
		err = c.finish()
	}
	return n, err
}

// toDisk lets the system write each diskBytes to the disk without waiting. Otherwise the disk would be idle until finish
// waits for it. Errors of the disk are reported there.
func (c *cutter) toDisk(offset, written int64) {
	from, to := offset/diskBytes*diskBytes, (offset+written)/diskBytes*diskBytes
	if c.file == nil || from == to {
		return
	}
	if raw, err := c.file.SyscallConn(); err == nil {
		//nolint:gosec // a descriptor
		_ = raw.Control(func(fd uintptr) { _ = unix.SyncFileRange(int(fd), from, to-from, unix.SYNC_FILE_RANGE_WRITE) })
	}
}

func (c *cutter) begin() (err error) {
	name := c.name(len(c.pieces))
	c.pieces = append(c.pieces, protocol.Piece{Name: name})
	c.sum = sha256.New()
	options := &blob.WriterOptions{BufferSize: cmp.Or(c.partBytes, partBytes), MaxConcurrency: c.uploads, ContentType: "application/zstd"}
	c.file = nil
	options.BeforeWrite = func(as func(any) bool) error {
		as(&c.file)
		return nil
	}
	c.current, err = c.store.bucket.NewWriter(c.ctx, name, options)
	return c.store.failure("write", name, err)
}

// piece returns the current piece.
func (c *cutter) piece() *protocol.Piece { return &c.pieces[len(c.pieces)-1] }

// finish completes the current piece as an object. On a volume, its data is on the disk before it gets its name. After
// an error of the disk the piece remains the current one, and abandon discards it.
func (c *cutter) finish() error {
	c.piece().SHA256 = hex.EncodeToString(c.sum.Sum(nil))
	return c.waiting(func() error {
		if c.file != nil {
			if err := c.store.sync(c.file); err != nil {
				return err
			}
		}
		writer := c.current
		c.current = nil
		return writer.Close()
	})
}

// waiting runs a step of the store with a time limit.
func (c *cutter) waiting(step func() error) (err error) {
	name := c.piece().Name
	c.patient.during(c.store.silent(c.patient.limit), func() { err = step() })
	return c.store.failure("write", name, err)
}

// Close finishes the last piece.
func (c *cutter) Close() error {
	if c.err == nil && c.current != nil {
		c.err = c.finish()
	}
	return c.err
}

// abandon discards the current piece. The context must have ended, or the piece would become an object.
func (c *cutter) abandon() {
	if c.current != nil {
		_ = c.current.Close() // its error is the end of the context
	}
}

// joiner reads the pieces of a stream in sequence. If the bytes differ from the stored ones, it ends with an error.
type joiner struct {
	ctx     context.Context //nolint:containedctx // has the lifetime of the joiner
	store   *store
	pieces  []protocol.Piece
	patient idleTimeout

	current io.ReadCloser
	read    int64
	sum     hash.Hash
	err     error
}

func (j *joiner) Read(buffer []byte) (n int, err error) {
	for n == 0 && j.err == nil {
		if len(j.pieces) == 0 {
			return 0, io.EOF
		}
		n, j.err = j.next(buffer)
	}
	return n, j.err
}

// next reads from the current piece.
func (j *joiner) next(buffer []byte) (int, error) {
	if j.current == nil {
		j.current = &resumingReader{ctx: j.ctx, store: j.store, name: j.pieces[0].Name, patient: j.patient}
		j.read, j.sum = 0, sha256.New()
	}
	n, err := j.current.Read(buffer)
	j.sum.Write(buffer[:n])
	j.read += int64(n)
	if errors.Is(err, io.EOF) {
		err = j.finish()
	}
	return n, err
}

// culprit returns the error of the current or the last piece. A consumer of the bytes may fail before their checksum is
// verified.
func (j *joiner) culprit() error {
	for buffer := make([]byte, copyBytes); j.err == nil && j.current != nil; {
		_, j.err = j.next(buffer)
	}
	return j.err
}

// finish compares the piece with its entry in the manifest.
func (j *joiner) finish() error {
	piece := j.pieces[0]
	if err := j.Close(); err != nil {
		return err
	}
	j.pieces = j.pieces[1:]
	switch {
	case j.read != piece.Bytes:
		return failf(protocol.BackupCorrupt, "%s has %d bytes instead of %d. %s.", j.store.URL(piece.Name), j.read, piece.Bytes,
			j.store.advice(protocol.BackupCorrupt))
	case hex.EncodeToString(j.sum.Sum(nil)) != piece.SHA256:
		return failf(protocol.BackupCorrupt, "%s is corrupt: its SHA-256 differs from the manifest. %s.", j.store.URL(piece.Name),
			j.store.advice(protocol.BackupCorrupt))
	}
	return nil
}

// Close ends the reading of the current piece.
func (j *joiner) Close() error {
	if j.current == nil {
		return nil
	}
	err := j.current.Close()
	j.current = nil
	return err
}
