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
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// restoreRun is a run that restores a member.
type restoreRun struct {
	*run
	*protocol.Restore
	keys     keys
	recovery *recoverRun // nil for none
}

// do streams the stored data of one member to the action, which fills an empty directory. It succeeds only if all bytes
// match the backup. An interrupted attempt starts again with an empty directory.
func (r *restoreRun) do(ctx context.Context) (protocol.Result, error) {
	data := dataDirectory(r.Into)
	mark, err := data.look(r.ID)
	if err != nil {
		return protocol.Result{}, err
	}
	if mark != nil && mark.State == protocol.MarkDone {
		return mark.Result, nil
	}
	store, err := openStore(ctx, r.From, r.Store)
	if err != nil {
		return protocol.Result{}, err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	if r.keys, err = r.unlock(store, r.Encryption); err != nil {
		return protocol.Result{}, err
	}

	manifest, stream, err := r.find(ctx, store)
	if err != nil {
		return protocol.Result{}, err
	}
	if len(r.Recover) > 0 {
		if r.recovery, err = r.recoveryOf(ctx, manifest, stream); err != nil {
			return protocol.Result{}, err
		}
		defer r.recovery.from.close() //nolint:errcheck // only read
	}
	return r.fill(ctx, store, stream, data)
}

// recoveryOf is the recovery of a backup by the archive beside it. It refuses what the archive does not cover before the first byte.
func (r *restoreRun) recoveryOf(ctx context.Context, manifest *protocol.Manifest, stream *protocol.Stream) (*recoverRun, error) {
	start, cluster := archiveFile(stream), manifest.About[protocol.AboutClusterUID]
	if start == "" || cluster == "" {
		return nil, failf(protocol.TargetNotCovered,
			"The backup %s does not record where it begins in an archive. Choose a backup that ran beside the members.", r.From)
	}
	recovery := &recoverRun{run: r.run, Recover: &protocol.Recover{
		From: protocol.ArchiveBeside(r.From, cluster), Store: r.Store, Start: start,
		Since: stream.Completed.Format(time.RFC3339Nano), Until: r.Until, Point: r.Point, Command: r.Recover,
	}}
	return recovery, recovery.open(ctx)
}

// archiveFile is the file of the archive in which a backup begins; "" if that is unknown.
func archiveFile(stream *protocol.Stream) (start string) {
	if stream.Check != nil {
		_ = json.Unmarshal(stream.Check.Before[protocol.ArchiveFact], &start)
	}
	return start
}

// find returns the stream of the member and checks that all its pieces exist.
func (r *restoreRun) find(ctx context.Context, store *store) (*protocol.Manifest, *protocol.Stream, error) {
	listed, err := store.list(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	if _, deleted := listed[protocol.DeletedName]; deleted {
		return nil, nil, failf(protocol.BackupMissing, "The backup %s was deleted. Choose another one.", store.URL(""))
	}
	if _, found := listed[protocol.ManifestName]; !found {
		return nil, nil, failf(protocol.BackupMissing,
			"There is no complete backup: %s does not exist. Correct the location, or create another backup.", store.URL(protocol.ManifestName))
	}
	manifest, err := readManifest(ctx, store, protocol.ManifestName)
	if err != nil {
		return nil, nil, err
	}
	stream, found := manifest.Stream(r.Member)
	if !found || manifest.Members != r.Members {
		return nil, nil, failf(protocol.ManifestInvalid,
			"The backup %s has %d members: it cannot be restored into member %d of %d. Set spec.replicas to the number of members in the backup.",
			store.URL(""), manifest.Members, r.Member, r.Members)
	}
	if err := r.keys.check(stream, store); err != nil {
		return nil, nil, err
	}
	return manifest, stream, check(stream, store, listed)
}

// fill writes the mark before the first byte, and again after the last.
func (r *restoreRun) fill(ctx context.Context, store *store, stream *protocol.Stream, data dataDirectory) (protocol.Result, error) {
	if err := data.begin(r.ID); err != nil {
		return protocol.Result{}, err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	result := resultOf(*stream)
	result.Started, result.TotalBytes = time.Now().UTC(), stream.Bytes
	taken, err := r.drain(ctx, end, store, stream)
	if err == nil && r.recovery != nil {
		result.Restored = time.Now().UTC()
		err = r.recovery.replay(ctx, &result)
	}
	if err != nil {
		err = verdict(ctx, err)
		if ranOut(err, data) {
			err = data.noRoom()
		}
		return protocol.Result{}, errors.Join(err, data.empty())
	}
	result.Completed, result.Bytes = time.Now().UTC(), taken
	return result, data.write(protocol.Mark{ID: r.ID, State: protocol.MarkDone, Result: result})
}

// ranOut reports whether an action failed because of a full volume, by its output or by the state of the volume.
func ranOut(err error, data dataDirectory) bool {
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Reason != protocol.ActionFailed || failure.exitCode() != protocol.ExitFailed {
		return false
	}
	said := strings.ToLower(failure.Message)
	return strings.Contains(said, unix.ENOSPC.Error()) || strings.Contains(said, unix.EDQUOT.Error()) || data.full()
}

// drain pours the stream into the action. It returns the number of bytes that the action read.
func (r *restoreRun) drain(ctx context.Context, end context.CancelCauseFunc, store *store, stream *protocol.Stream) (int64, error) {
	patient := idleTimeout{r.IdleTimeout, end}
	progress := &progress{log: r.log, total: stream.Bytes, started: time.Now()}
	told := progress.every(ctx, r.ProgressInterval)
	defer told()
	pieces := &joiner{ctx: ctx, store: store, pieces: stream.Pieces, patient: patient}
	defer pieces.Close() //nolint:errcheck // only read
	source := &unpacked{pieces: pieces, raw: sha256.New()}
	defer source.release()
	opened := func() error { return source.open(r.keys, stream, &progress.storedBytes) }
	if stream.Order != nil {
		opened = func() error { return source.assemble(ctx, r, stream, &progress.storedBytes) }
	}
	if err := opened(); err != nil {
		return 0, corrupt(err, source, stream)
	}

	action := newAction(ctx, r.Command, r.log)
	action.cmd.Stdout = action.stderr
	if r.recovery != nil {
		action.cmd.Env = append(os.Environ(), protocol.RecoverVariable+"=true")
	}
	into, err := newPour(action, stream.Bytes, &progress.bytes)
	if err != nil {
		return 0, err
	}
	_, err = source.data.WriteTo(into)
	if err == nil && hex.EncodeToString(source.raw.Sum(nil)) != stream.SHA256 {
		err = failf(protocol.BackupCorrupt,
			"The data of member %d in %s is corrupt: its SHA-256 differs from the manifest. Create another backup.", stream.Member, store.URL(""))
	}
	if err == nil {
		err = into.finish()
		return progress.bytes.Load(), err
	}
	// Kill the action before its stdin is closed. Otherwise it would mistake the end of its input for the end of the
	// data.
	end(verdict(ctx, corrupt(err, source, stream)))
	if !into.done {
		_ = action.wait()
	}
	return 0, context.Cause(ctx)
}

// corrupt returns the failure if the stored bytes do not decompress or the action stops reading.
func corrupt(err error, source *unpacked, stream *protocol.Stream) error {
	source.close() // before culprit reads the pieces
	failure, ok := errors.AsType[*Error](err)
	if ok && failure.Reason != protocol.ActionStoppedReading || errors.Is(err, context.Canceled) {
		return err
	}
	if culprit := source.culprit(); culprit != nil {
		return culprit
	}
	if ok {
		return err
	}
	return failf(protocol.BackupCorrupt, "The data of member %d in %s cannot be decompressed: %v. Create another backup.", stream.Member,
		source.pieces.store.URL(""), err)
}
