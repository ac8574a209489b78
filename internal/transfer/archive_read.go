/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/errgroup"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// archiveReads is the number of objects of a file that are read at the same time. A file of a quiet database has thousands of them. The
// client keeps at most 10 connections.
const archiveReads = 8

// bytesOf reads a file of an archive, and verifies it.
func (s *store) bytesOf(ctx context.Context, keys keys, file archive.File) ([]byte, error) {
	var all bytes.Buffer
	all.Grow(int(min(file.Size, archive.MaxFileBytes)) + bytes.MinRead)
	sum := sha256.New()
	for pieces := range slices.Chunk(file.Pieces, archiveReads) {
		contents, err := s.readAll(ctx, pieces)
		if err != nil {
			return nil, err
		}
		for i, p := range pieces {
			if err := s.unpack(keys, p, contents[i], io.MultiWriter(&all, sum)); err != nil {
				return nil, err
			}
			if archive.DigestOf(sum.Sum(nil)) != p.After || int64(all.Len()) != p.End {
				return nil, failf(protocol.BackupCorrupt, "%s is corrupt: its content differs from its name. %s.", s.URL(p.Name()),
					s.advice(protocol.BackupCorrupt))
			}
		}
	}
	return all.Bytes(), nil
}

// readAll reads objects at the same time.
func (s *store) readAll(ctx context.Context, pieces []archive.Piece) ([][]byte, error) {
	contents := make([][]byte, len(pieces))
	reads, ctx := errgroup.WithContext(ctx)
	for i, p := range pieces {
		reads.Go(func() (err error) {
			contents[i], err = s.read(ctx, p.Name())
			return err
		})
	}
	return contents, reads.Wait() //nolint:wrapcheck // of read
}

// reading is an archive that is read, with what it had when it was opened.
type reading struct {
	*store
	keys  keys
	files archive.Listing
}

// openArchive opens an archive to read it. The caller closes the store.
func (r *run) openArchive(ctx context.Context, url string, options protocol.Store) (*reading, error) {
	store, err := openStore(ctx, url, options)
	if err != nil {
		return nil, err
	}
	keys, err := r.unlock(store, options.Encryption)
	if err != nil {
		return nil, errors.Join(err, store.close())
	}
	listed, err := store.list(ctx, "")
	if err != nil {
		return nil, errors.Join(err, store.close())
	}
	return &reading{store, keys, archive.Read(listed.names())}, nil
}

// content reads a file. An archive that is written meanwhile replaces the parts of a file by one object.
func (r *reading) content(ctx context.Context, f archive.File) ([]byte, error) {
	content, err := r.bytesOf(ctx, r.keys, f)
	if err == nil || failureOf(err).exitCode() == protocol.ExitTransient {
		return content, err
	}
	listed, again := r.list(ctx, archive.Folder(f.Sequence))
	if again != nil {
		return nil, again
	}
	for _, now := range archive.Read(listed.names()) {
		if now.Sequence == f.Sequence && now.Name == f.Name && !slices.Equal(now.Pieces, f.Pieces) {
			return r.bytesOf(ctx, r.keys, now)
		}
	}
	return nil, err
}

// unpack decrypts and decompresses an object.
func (s *store) unpack(keys keys, p archive.Piece, content []byte, into io.Writer) (err error) {
	plain := io.Reader(bytes.NewReader(content))
	if p.Encrypted {
		if plain, err = keys.open(plain); err != nil {
			return failf(protocol.EncryptionKeyMissing,
				"%s cannot be decrypted: %v. Set encryptionSecretName of the destination to the Secret with the key.", s.URL(p.Name()), err)
		}
	}
	decompressor, err := zstd.NewReader(plain, zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return fmt.Errorf("create the decompressor: %w", err)
	}
	defer decompressor.Close()
	if _, err = io.Copy(into, io.LimitReader(decompressor, archive.MaxFileBytes+1)); err != nil {
		return failf(protocol.BackupCorrupt, "%s is corrupt: %v. %s.", s.URL(p.Name()), err, s.advice(protocol.BackupCorrupt))
	}
	return nil
}
