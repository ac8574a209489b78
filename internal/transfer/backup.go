/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"
)

// backup stores what the action prints for one member. Whatever an earlier try left is found or removed, so it may
// be cut at any point and begun again.
func backup(ctx context.Context, run *run) (Result, error) {
	store, err := openStore(ctx, run.location, run.store)
	if err != nil {
		return Result{}, err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	run.secrets = store.secrets

	stream, err := run.earlier(ctx, store)
	if err != nil {
		return Result{}, err
	}
	if stream == nil {
		if stream, err = run.upload(ctx, store); err != nil {
			return Result{}, err
		}
	}
	if run.complete {
		if err := run.completeBackup(ctx, store); err != nil {
			return Result{}, err
		}
	}
	return resultOf(*stream), nil
}

// earlier is the stream that an earlier try has brought to its end, or nil. A folder of another backup is refused.
func (r *run) earlier(ctx context.Context, store *store) (*Stream, error) {
	listed, err := store.list(ctx, "")
	if err != nil {
		return nil, err
	}
	if err := owned(ctx, store, listed, r.id); err != nil {
		return nil, err
	}
	name := memberFolder(r.member) + manifestName
	if _, found := listed[name]; !found {
		return nil, nil //nolint:nilnil // there is none
	}
	manifest, err := readManifest(ctx, store, name)
	if err != nil {
		return nil, err
	}
	stream, found := manifest.stream(r.member)
	if !found {
		return nil, failf(ManifestInvalid, "The manifest %s does not name member %d. Take another backup.", store.url(name), r.member)
	}
	return stream, nil
}

// upload runs the action. After a failure it removes what it has stored, as far as it can.
func (r *run) upload(ctx context.Context, store *store) (stream *Stream, err error) {
	folder := memberFolder(r.member)
	if err := store.clear(ctx, folder); err != nil {
		return nil, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stream, err = r.stream(ctx, end, store)
	if err == nil {
		err = r.writeManifest(ctx, store, folder+manifestName, []Stream{*stream})
	}
	if err != nil {
		err = verdict(ctx, err)
		if left := store.cleanUp(ctx, folder); left != nil {
			r.log.Warn("not everything that was stored could be removed; the next try or the deletion of the backup does it", "error", left.Error())
		}
		return nil, err
	}
	return stream, nil
}

// stream is the pipeline: action -> SHA-256 -> zstd -> cutter -> store.
func (r *run) stream(ctx context.Context, end context.CancelCauseFunc, store *store) (*Stream, error) {
	patient := patience{r.idleTimeout, end}
	pieces := &cutter{ctx: ctx, store: store, member: r.member, size: r.pieceSize, patient: patient}
	progress := &progress{log: r.log, started: time.Now().UTC()}
	told := progress.every(ctx, r.progressInterval)
	defer told()
	compressor, err := zstd.NewWriter(io.MultiWriter(pieces, counting(&progress.storedBytes)),
		zstd.WithWindowSize(zstdWindow), zstd.WithEncoderConcurrency(zstdThreads))
	if err != nil {
		return nil, fmt.Errorf("make the compressor: %w", err)
	}
	raw := sha256.New()

	err = r.pump(ctx, patient, io.MultiWriter(raw, compressor, counting(&progress.bytes)))
	if err == nil {
		err = errors.Join(compressor.Close(), pieces.Close())
	}
	if err != nil {
		end(verdict(ctx, err))
		_ = compressor.Close() // it has threads
		pieces.abandon()
		return nil, err
	}
	return &Stream{
		Member: r.member, Bytes: progress.bytes.Load(), StoredBytes: progress.storedBytes.Load(), SHA256: hex.EncodeToString(raw.Sum(nil)),
		Started: progress.started, Completed: time.Now().UTC(), Pieces: pieces.pieces,
	}, nil
}

// pump runs the action and copies all that it prints.
func (r *run) pump(ctx context.Context, patient patience, into io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	action := newAction(ctx, r.command, r.log)
	stdout, err := action.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("make a pipe: %w", err)
	}
	action.pipe = stdout
	if err := action.start(); err != nil {
		return err
	}
	hung := failf(ActionHung, "The action %s printed nothing for %s and did not end. See its log.", r.command[0], patient.limit)
	printed, copied := io.CopyBuffer(into, patient.reader(stdout, hung), make([]byte, copyBytes))
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

// completeBackup writes the manifest of the whole, once every member's part is there.
func (r *run) completeBackup(ctx context.Context, store *store) error {
	listed, err := store.list(ctx, "")
	if err != nil {
		return err
	}
	if _, found := listed[manifestName]; found {
		return nil // earlier has seen that it is ours
	}
	streams := make([]Stream, 0, r.members)
	for member := range r.members {
		stream, err := r.part(ctx, store, listed, member)
		if err != nil {
			return err
		}
		streams = append(streams, *stream)
	}
	return r.writeManifest(ctx, store, manifestName, streams)
}

// part is what the backup holds of a member, provided that all of it is there.
func (r *run) part(ctx context.Context, store *store, listed listing, member int) (*Stream, error) {
	name := memberFolder(member) + manifestName
	if _, found := listed[name]; !found {
		return nil, failf(BackupMissing, "The backup cannot be completed: %s is missing. Back up member %d first.", store.url(name), member)
	}
	manifest, err := readManifest(ctx, store, name)
	if err != nil {
		return nil, err
	}
	stream, found := manifest.stream(member)
	switch {
	case manifest.ID != r.id:
		return nil, failf(IDMismatch, "%s belongs to the backup %s, not to %s.", store.url(name), manifest.ID, r.id)
	case !found || manifest.Members != r.members:
		return nil, failf(ManifestInvalid, "%s is not of member %d of %d. Take another backup.", store.url(name), member, r.members)
	}
	return stream, stream.check(store, listed)
}

func (r *run) writeManifest(ctx context.Context, store *store, name string, streams []Stream) error {
	manifest := Manifest{
		Format: manifestFormat, ID: r.id, About: r.about, Members: r.members, Streams: streams,
		Started:   slices.MinFunc(streams, func(a, b Stream) int { return a.Started.Compare(b.Started) }).Started,
		Completed: slices.MaxFunc(streams, func(a, b Stream) int { return a.Completed.Compare(b.Completed) }).Completed,
	}
	content, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	return store.write(ctx, name, append(content, '\n'))
}
