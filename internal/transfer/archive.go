/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// archiveTick is the time between two looks at what is due.
	archiveTick = 100 * time.Millisecond
	// archiveReserve is the part of MaxLag for the look at the clock and for the upload, at most a quarter of it.
	archiveReserve = 500 * time.Millisecond
	// idleMark is the time after which a newer mark alone becomes an object. After the last bytes, one follows once the mark includes them:
	// otherwise, a moment after the last commit could not be recovered for a minute. markDelay is that time beyond MaxLag: an engine asks
	// the database each second, and reports the time of some moments before.
	idleMark, markDelay = time.Minute, 2 * time.Second
	// archiveReport is the time between two reports in the log.
	archiveReport = 5 * time.Second
	// maxTailBytes is the maximum length of the last line of a file that the action learns.
	maxTailBytes = 256
)

// archiveRun is a run that archives. One goroutine has the recorder: it takes frames, and cuts what waits for too long.
type archiveRun struct {
	*run
	*protocol.Archive
	keys     keys
	store    *store
	recorder *archive.Recorder
	line     string // that ends the last file
	uploads  *archiveUploads
	progress progress
	replies  io.Writer // the stdin of the action
	waiting  time.Time // since when there are bytes in no object
	stored   time.Time // when the last object was cut
	bytes    bool      // the last object has bytes
	reported time.Time
	losses   losses
	heard    atomic.Int64  // when the last frame arrived
	lost     atomic.Int64  // when the last gap was recorded; 0 for none
	state    *archiveState // nil for a program without a file for it
}

// do archives until the action ends, or the context. Everything that the action has sent becomes durable first, unless the store stalls.
func (r *archiveRun) do(ctx context.Context) (protocol.Result, error) {
	store, err := openStore(ctx, r.To, r.Store)
	if err != nil {
		return protocol.Result{}, err
	}
	defer store.close() //nolint:errcheck // nothing is pending
	r.store, r.progress = store, progress{log: r.log, started: time.Now()}
	defer func() { r.progress.tell(0, peakMemory()) }()
	if r.keys, err = r.unlock(store, r.Encryption); err != nil {
		return protocol.Result{}, err
	}
	if err := r.claim(ctx); err != nil {
		return protocol.Result{}, err
	}
	if err := r.resume(ctx); err != nil {
		return protocol.Result{}, err
	}
	return protocol.Result{}, r.follow(ctx)
}

// follow runs the action.
func (r *archiveRun) follow(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	action := newAction(ctx, r.Command, r.log)
	action.cmd.Env = append(os.Environ(), "DBC_ARCHIVE_FILE_BYTES="+fmt.Sprint(archive.MaxFileBytes))
	stdin, err := action.cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("create a pipe: %w", err)
	}
	stdout, err := action.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("create a pipe: %w", err)
	}
	action.pipe = stdout
	r.replies = &replies{into: stdin}
	if r.uploads, err = newArchiveUploads(ctx, r); err != nil {
		return err
	}
	if err := action.start(); err != nil {
		return errors.Join(err, r.uploads.finish())
	}
	r.state.follow(func() protocol.Archived {
		now := r.uploads.state()
		now.Said, now.Heard = action.stderr.newest(), time.Unix(r.heard.Load(), 0).UTC()
		if lost := r.lost.Load(); lost > 0 {
			now.Lost = time.Unix(lost, 0).UTC()
		}
		return now
	})
	r.heard.Store(time.Now().Unix())
	r.welcome()
	return r.settle(ctx, stop, action, r.receive(newFrameReader(stdout)))
}

// settle stores what the action has sent, and waits for its end.
func (r *archiveRun) settle(ctx context.Context, stop func(), action *action, failed error) error {
	asked := ctx.Err() != nil // to stop: then the action may end within a frame
	if failed != nil {
		stop()
	}
	r.add(r.recorder.Cut())
	r.add(r.recorder.Idle())
	unstored := r.uploads.finish()
	if unstored != nil {
		stop()
	}
	if cmp.Or(failed, unstored) != nil {
		_ = action.pipe.Close() // a child that ignores SIGTERM must not wait for a reader
	}
	ended := action.wait()
	if asked || failed == nil && ctx.Err() != nil {
		return unstored
	}
	return cmp.Or(failed, unstored, ended)
}

// welcome is the first reply: where the archive ends.
func (r *archiveRun) welcome() {
	end := r.recorder.End()
	if end.File == "" {
		fmt.Fprintln(r.replies, protocol.ReplyLast)
		return
	}
	state := map[archive.PieceKind]string{archive.Part: "open", archive.Gap: "gap", archive.Fork: "fork"}[end.Kind]
	words := []any{protocol.ReplyLast, end.File, end.End, cmp.Or(state, "complete")}
	if end.Kind == archive.Gap || end.Kind == archive.Fork {
		fmt.Fprintln(r.replies, words...)
		return
	}
	fmt.Fprintln(r.replies, append(words, end.After)...)
	mark := "-"
	if !end.Mark.IsZero() {
		mark = end.Mark.UTC().Format(time.RFC3339Nano)
	}
	fmt.Fprintln(r.replies, protocol.ReplyTail, mark, r.line)
	fmt.Fprintln(r.replies, protocol.ReplyDurable, end.File, end.End)
}

// received is a frame, or why there is none.
type received struct {
	message
	err error
}

// receive takes frames until the action closes its side. In between it looks at the clock.
func (r *archiveRun) receive(frames frameReader) error {
	done := make(chan struct{})
	defer close(done)
	next := frames.ahead(done)
	ticker := time.NewTicker(archiveTick)
	defer ticker.Stop()
	r.losses = losses{looked: time.Now(), found: make(chan string, 1)}
	for {
		select {
		case got := <-next:
			if errors.Is(got.err, io.EOF) || errors.Is(got.err, os.ErrClosed) {
				return nil
			}
			if got.err != nil {
				return got.err
			}
			r.heard.Store(time.Now().Unix())
			if err := r.take(got.message); err != nil {
				return failf(protocol.ActionFailed, "The archive action sent a wrong frame: %v. Correct the action in the engine.", err)
			}
		case <-r.uploads.ctx.Done():
			return nil // finish reports why
		case lost := <-r.losses.found:
			r.add(r.again(lost))
		case now := <-ticker.C:
			r.look(now)
		}
	}
}

// take records a frame.
func (r *archiveRun) take(m message) (err error) {
	var objects []archive.Upload
	switch m.verb {
	case protocol.FrameData:
		err = r.recorder.Data(m.file, m.offset, m.body)
	case protocol.FrameEnd:
		objects, err = r.recorder.Complete(m.file, m.offset)
	case protocol.FramePut:
		objects, err = r.recorder.Whole(m.file, m.body)
	case protocol.FrameCut:
		objects = r.recorder.Cut()
	case protocol.FrameMark:
		r.recorder.Mark(m.until)
	case protocol.FrameFork:
		objects, err = r.recorder.Record(archive.Fork, m.file, m.offset)
	case protocol.FrameGap:
		objects, err = r.recorder.Record(archive.Gap, m.file, m.offset)
		r.lost.Store(time.Now().Unix())
		r.log.Warn("The database does not have the log that follows. Create a backup.")
	}
	if file := r.recorder.Branched(); file != "" {
		r.log.Warn("The database sent other bytes than the archive has. Both are kept.", "file", file)
	}
	r.add(objects)
	if r.recorder.Pending() > 0 && r.waiting.IsZero() {
		r.waiting = time.Now()
	}
	return err
}

// patience is how long bytes wait for others, so that they are stored when they are as old as MaxLag.
func patience(maxLag time.Duration) time.Duration { return maxLag - min(maxLag/4, archiveReserve) }

// look cuts what has waited, or stores a mark if there is nothing else, and reports.
func (r *archiveRun) look(now time.Time) {
	switch {
	case !r.waiting.IsZero() && now.Sub(r.waiting) >= patience(r.MaxLag):
		r.add(r.recorder.Cut())
	case now.Sub(r.stored) >= idleMark, r.bytes && now.Sub(r.stored) >= r.MaxLag+markDelay:
		r.add(r.recorder.Idle())
	}
	r.find(now)
	if now.Sub(r.reported) >= archiveReport {
		r.reported = now
		tell(r.log, r.uploads.state())
	}
}

// add stores objects. It waits while too many are on their way, so that the action waits too.
func (r *archiveRun) add(objects []archive.Upload) {
	for _, o := range objects {
		r.uploads.add(o)
		r.stored, r.bytes = time.Now(), o.Kind != archive.Mark
	}
	if r.recorder.Pending() == 0 {
		r.waiting = time.Time{}
	}
}
