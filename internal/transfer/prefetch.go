/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// filesAhead is how many files are read before the database asks for them.
	filesAhead = 3
	// readPause and maxReadPause are the times between two attempts to read a file.
	readPause, maxReadPause = time.Second, 30 * time.Second
)

// prefetch reads the files of a range in their order, before the database asks for them. It repeats a failed read until it succeeds: an
// error would be the end of the log for the database.
type prefetch struct {
	files map[int64]archive.File
	names map[string]int64
	until int64
	read  func(context.Context, archive.File) ([]byte, error)
	log   *slog.Logger
	// fail ends the recovery: the bytes are lost, and no further attempt can find them.
	fail context.CancelCauseFunc

	sync.Mutex
	loading map[int64]*loaded
}

// loaded is a file that is being read, until done is closed.
type loaded struct {
	done    chan struct{}
	content []byte
	err     error
}

func newPrefetch(files archive.Listing, of archive.Range, read func(context.Context, archive.File) ([]byte, error), log *slog.Logger,
	fail context.CancelCauseFunc,
) *prefetch {
	r := &prefetch{files: map[int64]archive.File{}, names: of.Files, until: of.Last, read: read, log: log, fail: fail, loading: map[int64]*loaded{}}
	for _, f := range files {
		if sequence, has := of.Files[f.Name]; has && sequence == f.Sequence && f.Record == "" {
			r.files[f.Sequence] = f
		}
	}
	return r
}

// last is the name of the last file of the range.
func (r *prefetch) last() string {
	for sequence := r.until; sequence >= 0; sequence-- {
		if f, has := r.files[sequence]; has {
			return f.Name
		}
	}
	return ""
}

// get returns a file, and begins to read those that follow it.
func (r *prefetch) get(ctx context.Context, name string) (content []byte, found bool, err error) {
	sequence, found := r.names[name]
	if !found {
		return nil, false, nil
	}
	wanted := r.load(ctx, sequence)
	select {
	case <-wanted.done:
		return wanted.content, true, wanted.err
	case <-ctx.Done():
		return nil, true, context.Cause(ctx)
	}
}

// load begins to read a file and those that follow it, and forgets the others.
func (r *prefetch) load(ctx context.Context, sequence int64) *loaded {
	r.Lock()
	defer r.Unlock()
	maps.DeleteFunc(r.loading, func(other int64, _ *loaded) bool { return other < sequence || other > sequence+filesAhead })
	for next := sequence; next <= sequence+filesAhead; next++ {
		f, has := r.files[next]
		if !has || r.loading[next] != nil {
			continue
		}
		one := &loaded{done: make(chan struct{})}
		r.loading[next] = one
		go func() {
			defer close(one.done)
			one.content, one.err = r.persist(ctx, f)
		}()
	}
	return r.loading[sequence]
}

// persist reads a file until it succeeds, or cannot.
func (r *prefetch) persist(ctx context.Context, f archive.File) ([]byte, error) {
	for pause := readPause; ; pause = min(2*pause, maxReadPause) {
		content, err := r.read(ctx, f)
		if err == nil || ctx.Err() != nil {
			return content, err
		}
		if failure := failureOf(err); failure.exitCode() != protocol.ExitTransient {
			r.fail(failure)
			return nil, failure
		}
		r.log.Warn("A file of the archive cannot be read now. The recovery waits.", "file", f.Name, "problem", err.Error())
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
