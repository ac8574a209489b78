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
	"slices"
	"syscall"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// backupRun is a run that backs up a member.
type backupRun struct {
	*run
	*protocol.Backup
	keys    keys
	attempt string // unique to this run
}

// do stores the output of the action for one member. If another attempt has completed it, do keeps that result. So a
// run may be interrupted and repeated at any point, even while a previous attempt still runs.
func (r *backupRun) do(ctx context.Context) (protocol.Result, error) {
	store, err := openStore(ctx, r.To, r.Store)
	if err != nil {
		return protocol.Result{}, err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	if r.keys, err = r.unlock(store, r.Encryption); err != nil {
		return protocol.Result{}, err
	}

	stream, err := r.earlier(ctx, store)
	if err != nil {
		return protocol.Result{}, err
	}
	if stream == nil {
		if stream, err = r.upload(ctx, store); err != nil {
			return protocol.Result{}, err
		}
	}
	if r.Complete {
		if err := r.completeBackup(ctx, store); err != nil {
			return protocol.Result{}, err
		}
	}
	result := resultOf(*stream)
	result.Check = stream.Check
	return result, nil
}

// earlier returns the stream of another attempt that has completed, or nil. It rejects a folder of another backup.
func (r *backupRun) earlier(ctx context.Context, store *store) (*protocol.Stream, error) {
	listed, err := store.list(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := owned(ctx, store, listed, r.ID); err != nil {
		return nil, err
	}
	for _, name := range []string{protocol.ManifestName, protocol.MemberManifest(r.Member)} {
		if _, found := listed[name]; found {
			manifest, err := r.published(ctx, store, name)
			if err != nil {
				return nil, err
			}
			return r.named(store, name, manifest)
		}
	}
	return nil, nil //nolint:nilnil // does not exist
}

// named returns the stream of the member in a manifest.
func (r *backupRun) named(store *store, name string, manifest *protocol.Manifest) (*protocol.Stream, error) {
	stream, found := manifest.Stream(r.Member)
	if !found {
		return nil, failf(protocol.ManifestInvalid, "The manifest %s does not name member %d. Create another backup.", store.URL(name), r.Member)
	}
	return stream, nil
}

// upload runs the action and publishes its output. If another attempt was first, upload returns the stream of that
// attempt.
func (r *backupRun) upload(ctx context.Context, store *store) (*protocol.Stream, error) {
	r.attempt = newAttempt()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	facts := r.before(ctx)
	stream, err := r.stream(ctx, end, store)
	if err != nil {
		r.discard(ctx, store)
		return nil, verdict(ctx, err)
	}
	stream.Check = r.after(ctx, facts)
	name := protocol.MemberManifest(r.Member)
	manifest, err := r.publish(ctx, store, name, []protocol.Stream{*stream})
	if err != nil {
		// A full store has rejected the manifest, and that of a deleted backup was withdrawn, so it cannot appear later. A request
		// without a response may still arrive.
		if reason := failureOf(err).Reason; reason == protocol.DestinationFull || reason == protocol.BackupMissing {
			r.discard(ctx, store)
		}
		return nil, verdict(ctx, err)
	}
	stream, err = r.named(store, name, manifest)
	if err == nil && stream.Attempt != r.attempt {
		r.log.Info("Another attempt completed this backup first. This attempt uses its result.", "attempt", stream.Attempt)
		r.discard(ctx, store)
	}
	return stream, err
}

// stream is the pipeline: action -> SHA-256 -> zstd -> age -> cutter -> store.
func (r *backupRun) stream(ctx context.Context, end context.CancelCauseFunc, store *store) (*protocol.Stream, error) {
	patient := idleTimeout{r.IdleTimeout, end}
	progress := &progress{log: r.log, started: time.Now().UTC()}
	stream := &protocol.Stream{Member: r.Member, Attempt: r.attempt, Recipient: r.keys.recipient(), Started: progress.started}
	pieces := &cutter{
		ctx: ctx, store: store, name: stream.PieceName, size: r.PieceSize, patient: patient, stored: &progress.storedBytes, uploads: uploadParts,
	}
	finish := progress.every(ctx, r.ProgressInterval)
	defer finish()
	compressor, encryptor, err := r.packing(pieces, func(err error) { end(verdict(ctx, err)) })
	if err != nil {
		end(err)
		pieces.abandon()
		return nil, err
	}
	raw := sha256.New()
	ledger, err := r.openLedger(ctx, store, stream, patient)
	if err == nil {
		err = r.pump(ctx, patient, func(output io.Reader) (int64, error) {
			fresh, done, err := ledger.sift(io.TeeReader(output, io.MultiWriter(raw, &progress.bytes)))
			if err != nil {
				return 0, err
			}
			defer done()
			_, err = compressor.ReadFrom(fresh)
			return progress.bytes.Load(), err
		})
	}
	if err == nil {
		err = errors.Join(compressor.Close(), encryptor.Close())
	}
	if err == nil {
		err = ledger.close(compressor.sizes)
	}
	if err != nil {
		end(verdict(ctx, err))
		compressor.abandon()
		pieces.abandon()
		ledger.abandon()
		return nil, err
	}
	stream.Bytes, stream.StoredBytes, stream.SHA256 = progress.bytes.Load(), progress.storedBytes.Load(), hex.EncodeToString(raw.Sum(nil))
	stream.Pieces, stream.Completed = pieces.pieces, time.Now().UTC()
	return stream, nil
}

// packing returns the steps between the data and its pieces. The second one must be closed after the first. failed is
// called with an error of the store.
func (r *backupRun) packing(pieces *cutter, failed func(error)) (*compressor, io.Closer, error) {
	encryptor, err := r.keys.encrypt(pieces)
	if err != nil {
		return nil, nil, fmt.Errorf("create the encryptor: %w", err)
	}
	compressor, err := newCompressor(encryptor, r.Compression, failed)
	if err != nil {
		return nil, nil, fmt.Errorf("create the compressor: %w", err)
	}
	return compressor, encryptor, nil
}

// pump runs the action and lets the function read its output.
func (r *backupRun) pump(ctx context.Context, patient idleTimeout, read func(io.Reader) (int64, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	action := newAction(ctx, r.Command, r.log)
	stdout, err := action.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("create a pipe: %w", err)
	}
	action.pipe = stdout
	if pipe, ok := stdout.(syscall.Conn); ok {
		widen(pipe)
	}
	if err := action.start(); err != nil {
		return err
	}
	hung := failf(protocol.ActionHung, "The action %s printed nothing for %s and did not end. See its log.", r.Command[0], patient.limit)
	printed, copied := read(patient.reader(stdout, hung))
	if copied != nil {
		stop()
	}
	var ended error
	patient.during(hung, func() { ended = action.wait() })
	switch {
	case copied != nil:
		return copied
	case ended == nil && printed == 0:
		return action.emptiness()
	default:
		return ended
	}
}

// completeBackup writes the manifest of the backup when all members are stored.
func (r *backupRun) completeBackup(ctx context.Context, store *store) error {
	listed, err := store.list(ctx, "")
	if err != nil {
		return err
	}
	if _, found := listed[protocol.ManifestName]; found {
		return nil // earlier has verified that it is the manifest of this backup
	}
	streams := make([]protocol.Stream, 0, r.Members)
	for member := range r.Members {
		stream, err := r.part(ctx, store, listed, member)
		if err != nil {
			return err
		}
		streams = append(streams, *stream)
	}
	_, err = r.publish(ctx, store, protocol.ManifestName, streams)
	return err
}

// part returns the stream of a member, if all its pieces exist.
func (r *backupRun) part(ctx context.Context, store *store, listed listing, member int) (*protocol.Stream, error) {
	name := protocol.MemberManifest(member)
	if _, found := listed[name]; !found {
		return nil, failf(protocol.BackupMissing, "The backup cannot be completed: %s is missing. Back up member %d first.", store.URL(name),
			member)
	}
	manifest, err := r.published(ctx, store, name)
	if err != nil {
		return nil, err
	}
	stream, found := manifest.Stream(member)
	if !found || manifest.Members != r.Members {
		return nil, failf(protocol.ManifestInvalid, "%s is not the manifest of member %d of %d. Create another backup.", store.URL(name), member,
			r.Members)
	}
	return stream, check(stream, store, listed)
}

func (r *backupRun) manifest(streams []protocol.Stream) *protocol.Manifest {
	return &protocol.Manifest{
		Format: protocol.FormatOf(streams), ID: r.ID, About: r.About, Members: r.Members, Streams: streams,
		Started:   slices.MinFunc(streams, func(a, b protocol.Stream) int { return a.Started.Compare(b.Started) }).Started,
		Completed: slices.MaxFunc(streams, func(a, b protocol.Stream) int { return a.Completed.Compare(b.Completed) }).Completed,
	}
}
