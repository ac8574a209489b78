/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

// restore gives what is stored of one member to the action, which fills an empty directory with it. It is done only
// when everything was what had been stored; a try that was cut begins again with nothing.
func restore(ctx context.Context, run *run) (Result, error) {
	data := dataDirectory(run.into)
	mark, err := data.look(run.id)
	if err != nil {
		return Result{}, err
	}
	if mark != nil && mark.State == stateDone {
		return mark.Result, nil
	}
	store, err := openStore(ctx, run.location, run.store)
	if err != nil {
		return Result{}, err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	if err := run.unlock(store); err != nil {
		return Result{}, err
	}

	stream, err := run.find(ctx, store)
	if err != nil {
		return Result{}, err
	}
	return run.fill(ctx, store, stream, data)
}

// find looks for the stream of the member, and at all its pieces, before anything is done.
func (r *run) find(ctx context.Context, store *store) (*Stream, error) {
	listed, err := store.list(ctx, "")
	if err != nil {
		return nil, err
	}
	if _, found := listed[manifestName]; !found {
		return nil, failf(BackupMissing, "There is no complete backup: %s does not exist. Correct the location, or take another backup.", store.url(manifestName))
	}
	manifest, err := readManifest(ctx, store, manifestName)
	if err != nil {
		return nil, err
	}
	stream, found := manifest.stream(r.member)
	if !found || manifest.Members != r.members {
		return nil, failf(ManifestInvalid, "The backup %s is of %d members: it cannot be restored into member %d of %d. Give the cluster as many replicas.",
			store.url(""), manifest.Members, r.member, r.members)
	}
	if err := r.keys.check(stream, store); err != nil {
		return nil, err
	}
	return stream, stream.check(store, listed)
}

// fill writes the mark before the first byte, and again after the last.
func (r *run) fill(ctx context.Context, store *store, stream *Stream, data dataDirectory) (Result, error) {
	if err := data.write(mark{ID: r.id, State: stateRunning}); err != nil {
		return Result{}, err
	}
	if err := data.empty(); err != nil {
		return Result{}, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	result := resultOf(*stream)
	result.Started, result.TotalBytes = time.Now().UTC(), stream.Bytes
	taken, err := r.drain(ctx, end, store, stream)
	if err != nil {
		err = verdict(ctx, err)
		if ranOut(err, data) {
			err = data.noRoom()
		}
		return Result{}, errors.Join(err, data.empty())
	}
	result.Completed, result.Bytes = time.Now().UTC(), taken
	return result, data.write(mark{ID: r.id, State: stateDone, Result: result})
}

// ranOut tells whether an action failed for want of room. It may say so itself; the volume may show it.
func ranOut(err error, data dataDirectory) bool {
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Reason != ActionFailed || failure.exitCode() != exitFailed {
		return false
	}
	said := strings.ToLower(failure.Message)
	return strings.Contains(said, unix.ENOSPC.Error()) || strings.Contains(said, unix.EDQUOT.Error()) || data.full()
}

// drain is the pipeline: store -> pieces -> age -> zstd -> SHA-256 -> action. It returns how much the action has read.
func (r *run) drain(ctx context.Context, end context.CancelCauseFunc, store *store, stream *Stream) (int64, error) {
	patient := patience{r.idleTimeout, end}
	progress := &progress{log: r.log, total: stream.Bytes, started: time.Now()}
	told := progress.every(ctx, r.progressInterval)
	defer told()
	pieces := &joiner{ctx: ctx, store: store, pieces: stream.Pieces, patient: patient}
	defer pieces.Close() //nolint:errcheck // only read
	decrypted, err := r.keys.decrypt(stream, io.TeeReader(pieces, counting(&progress.storedBytes)))
	if err != nil {
		return 0, corrupt(err, pieces, stream)
	}
	decompressor, err := zstd.NewReader(decrypted, zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderConcurrency(zstdThreads))
	if err != nil {
		return 0, fmt.Errorf("make the decompressor: %w", err)
	}
	defer decompressor.Close()

	action := newAction(ctx, r.command, r.log)
	action.cmd.Stdout = action.stderr
	into, err := newPour(action, stream.Bytes, &progress.bytes)
	if err != nil {
		return 0, err
	}
	raw := sha256.New()
	_, err = io.CopyBuffer(io.MultiWriter(raw, into), decompressor, make([]byte, copyBytes))
	if err == nil && hex.EncodeToString(raw.Sum(nil)) != stream.SHA256 {
		err = failf(BackupCorrupt, "The data of member %d in %s is not what was backed up: its SHA-256 is another. Take another backup.", stream.Member, store.url(""))
	}
	if err == nil {
		err = into.finish()
		return progress.bytes.Load(), err
	}
	// The action must not take the end of what it got for the end of the data: it is ended before its stdin is.
	decompressor.Close()
	end(verdict(ctx, corrupt(err, pieces, stream)))
	if !into.done {
		_ = action.wait()
	}
	return 0, context.Cause(ctx)
}

// corrupt is what it means that the stored bytes do not decompress, or that the action wants no more of them.
func corrupt(err error, pieces *joiner, stream *Stream) error {
	failure, ok := errors.AsType[*Error](err)
	if ok && failure.Reason != ActionStoppedReading || errors.Is(err, context.Canceled) {
		return err
	}
	if culprit := pieces.culprit(); culprit != nil {
		return culprit
	}
	if ok {
		return err
	}
	return failf(BackupCorrupt, "The data of member %d in %s cannot be unpacked: %v. Take another backup.", stream.Member, pieces.store.url(""), err)
}
