/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// archiveBytes bounds the bytes of the objects on their way, and so the memory: before they are compressed, and after.
	archiveBytes = archive.MaxFileBytes * 2
	// archivePause and maxArchivePause are the times between two attempts to store an object.
	archivePause    = 200 * time.Millisecond
	maxArchivePause = 5 * time.Second
	// slowest is the number of bytes a second that an upload needs at least.
	slowest = 256 << 10
)

// archiveUploads stores objects at the same time, and replies in their order what is durable.
type archiveUploads struct {
	ctx      context.Context //nolint:containedctx // has the lifetime of the uploads
	end      context.CancelFunc
	asked    context.Context //nolint:containedctx // ends when the program is asked to stop
	run      *archiveRun
	store    *store
	encoders encoders
	room     *semaphore.Weighted // bytes
	order    chan *archiveUpload // has MaxObjectsInFlight
	ended    chan struct{}

	mutex   sync.Mutex
	now     protocol.Archived // what the store has
	part    string            // the last durable object of a file that grows
	failing int               // objects whose last attempt failed
	stalled bool
}

// archiveUpload is an object on its way.
type archiveUpload struct {
	archive.Upload
	done chan struct{} // is closed when the object is durable, or the context has ended
	kept bool          // it is durable
}

// replies is a pipe to the action. The action may have ended.
type replies struct {
	mutex sync.Mutex
	into  io.Writer
}

func (t *replies) Write(line []byte) (int, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	return t.into.Write(line)
}

func newArchiveUploads(ctx context.Context, run *archiveRun) (*archiveUploads, error) {
	threads := threadsOf(run.Compression, archive.MaxObjectsInFlight)
	encoders, err := newEncoders(run.LevelOrDefault(), threads)
	if err != nil {
		return nil, fmt.Errorf("create the compressor: %w", err)
	}
	store, err := openStoreWith(ctx, run.To, run.Store, 1) // upload repeats what fails, and notices that it does
	if err != nil {
		return nil, err
	}
	u := &archiveUploads{run: run, store: store, encoders: encoders, room: semaphore.NewWeighted(archiveBytes),
		order: make(chan *archiveUpload, archive.MaxObjectsInFlight), ended: make(chan struct{})}
	u.asked = ctx
	u.ctx, u.end = context.WithCancel(context.WithoutCancel(ctx))
	end := run.recorder.End()
	u.now = protocol.Archived{File: end.File, Offset: end.End, Mark: end.Mark}
	if parts := run.recorder.Parts(); len(parts) > 0 {
		u.part = parts[len(parts)-1]
	}
	go u.acknowledge()
	return u, nil
}

// add starts to store an object. It waits while there is no room.
func (u *archiveUploads) add(o archive.Upload) {
	if u.room.Acquire(u.ctx, int64(len(o.Body))) != nil {
		return // the program ends
	}
	upload := &archiveUpload{Upload: o, done: make(chan struct{})}
	select {
	case u.order <- upload:
		go u.upload(upload)
	case <-u.ctx.Done():
	}
}

// upload stores an object, as often as it takes.
func (u *archiveUploads) upload(o *archiveUpload) {
	defer close(o.done)
	packed, err := u.pack(o.Body)
	room := min(len(packed), len(o.Body))
	u.room.Release(int64(len(o.Body) - room))
	defer u.room.Release(int64(room))
	o.Body = nil
	if err != nil { // only in memory: a fault of the program
		u.fails(time.Now(), err)
		return
	}
	since := time.Time{}
	for wait := archivePause; u.ctx.Err() == nil; wait = min(2*wait, maxArchivePause) {
		started := time.Now()
		if err = u.attempt(o.Name(), packed); err == nil {
			o.kept = true
			u.run.progress.bytes.Add(o.End - o.From)
			u.run.progress.storedBytes.Add(int64(len(packed)))
			u.works(since)
			return
		}
		err = u.unnamed(err, o.Name())
		if since.IsZero() {
			since = started
			u.begins(err)
		}
		u.fails(since, err)
		pause(u.ctx, wait)
	}
}

// pack compresses and encrypts bytes.
func (u *archiveUploads) pack(body []byte) ([]byte, error) {
	var packed bytes.Buffer
	into, err := u.run.keys.encrypt(nopCloser{&packed})
	if err != nil {
		return nil, fmt.Errorf("create the encryptor: %w", err)
	}
	frame := make([]byte, 0, min(len(body), blockBytes)+frameOverhead)
	for block := range slices.Chunk(body, blockBytes) {
		frame = u.encoders.encode(block, frame)
		if _, err = into.Write(frame); err != nil {
			break
		}
	}
	err = errors.Join(err, into.Close()) // writes the end
	return packed.Bytes(), err
}

// nopCloser is a writer that nothing closes.
type nopCloser struct{ io.Writer }

// Close does nothing.
func (nopCloser) Close() error { return nil }

// unnamed leaves out the name of the object, which is longer than the cause.
func (u *archiveUploads) unnamed(err error, name string) error {
	failure := *failureOf(err)
	failure.Message = strings.ReplaceAll(failure.Message, u.store.URL(name), u.store.URL(""))
	return &failure
}

// attempt stores an object within a time: a connection that is cut off would keep it waiting for minutes.
func (u *archiveUploads) attempt(name string, packed []byte) error {
	limit := u.run.Stalled + time.Duration(len(packed))*time.Second/slowest
	ctx, end := context.WithTimeoutCause(u.ctx, limit, u.store.silent(limit))
	defer end()
	return verdict(ctx, u.store.keep(ctx, name, packed))
}

// begins counts an object that fails.
func (u *archiveUploads) begins(err error) {
	u.run.log.Warn(u.run.withoutSecrets(failureOf(err).Message))
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.failing++
}

// fails records a failed attempt. An object that fails for long enough stalls the archive. Then a program that is asked to stop gives up.
func (u *archiveUploads) fails(since time.Time, err error) {
	u.mutex.Lock()
	if u.now.Problem == "" {
		u.now.Problem, u.now.Since = u.run.withoutSecrets(failureOf(err).Message), since.UTC()
	}
	long := time.Since(since) >= u.run.Stalled
	stalls := long && !u.stalled
	u.stalled = u.stalled || stalls
	u.mutex.Unlock()
	// Another run reads the credentials again, which may have been replaced.
	refused := u.run.state != nil && failureOf(err).Reason == protocol.CredentialsRefused
	if long && (refused || u.asked.Err() != nil) {
		u.end()
	}
	if stalls {
		u.say(protocol.ReplyStalled)
	}
}

// works records a successful attempt, after failed ones since a time.
func (u *archiveUploads) works(since time.Time) {
	u.mutex.Lock()
	if !since.IsZero() {
		u.failing--
	}
	resumes := false
	if u.failing == 0 {
		u.now.Problem, u.now.Since = "", time.Time{}
		resumes, u.stalled = u.stalled, false
	}
	u.mutex.Unlock()
	if resumes {
		u.say(protocol.ReplyResumed)
	}
}

// say sends a reply. The action may have ended.
func (u *archiveUploads) say(words ...any) { _, _ = fmt.Fprintln(u.run.replies, words...) }

// acknowledge waits for the objects in their order.
func (u *archiveUploads) acknowledge() {
	defer close(u.ended)
	for o := range u.order {
		<-o.done
		if !o.kept {
			u.end() // nothing after this object is known to join
			return
		}
		u.mutex.Lock()
		u.now.File, u.now.Offset = o.File, o.End
		if o.Kind == archive.Part {
			u.part = o.Name()
		}
		if !o.Mark.IsZero() {
			u.now.Mark = o.Mark
		}
		u.mutex.Unlock()
		switch o.Kind {
		case archive.Part, archive.Tail, archive.Full:
			u.say(protocol.ReplyDurable, o.File, o.End)
		case archive.Gap:
			u.say(protocol.ReplyGap, o.File, o.End)
		case archive.Mark, archive.Fork: // nothing waits for them
		}
		u.replace(o)
	}
}

// replace removes the objects that a durable one has made unnecessary. If one remains, the archive has it twice.
func (u *archiveUploads) replace(o *archiveUpload) {
	for _, name := range o.Replaces {
		if err := u.store.bucket.Delete(u.ctx, name); err != nil {
			u.run.log.Warn("An object that another one has replaced could not be removed.", "object", name, "error", err.Error())
		}
	}
}

func (u *archiveUploads) state() protocol.Archived {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.now
}

// acknowledged is the name of the last durable object of a file that grows.
func (u *archiveUploads) acknowledged() string {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	return u.part
}

// finish waits until everything is durable, or the uploads have given up.
func (u *archiveUploads) finish() error {
	close(u.order)
	defer u.store.close() //nolint:errcheck // what is pending is lost anyway
	defer u.end()
	<-u.ended
	if u.ctx.Err() == nil {
		return nil
	}
	return failf(protocol.DestinationUnreachable, "The last bytes of the archive are not stored. The database still has them. %s",
		u.state().Problem)
}
