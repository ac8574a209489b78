/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"strings"
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
	files []archive.File
	begin int            // the index of the file in which the backup begins
	index map[string]int // by name
	from  *reading
	log   *slog.Logger
	// fail ends the recovery: the bytes are lost, and no further attempt can find them.
	fail context.CancelCauseFunc

	sync.Mutex
	loading map[int]*loaded // by index
}

// loaded is a file that is being read, until done is closed.
type loaded struct {
	done    chan struct{}
	content []byte
	err     error
}

func newPrefetch(from *reading, of archive.Range, log *slog.Logger, fail context.CancelCauseFunc) *prefetch {
	r := &prefetch{index: map[string]int{}, from: from, log: log, fail: fail, loading: map[int]*loaded{}}
	for _, f := range from.files {
		if sequence, has := of.Files[f.Name]; has && sequence == f.Sequence && f.Record == "" {
			r.index[f.Name] = len(r.files)
			if f.Sequence == of.Begin {
				r.begin = len(r.files)
			}
			r.files = append(r.files, f)
		}
	}
	return r
}

// list are the names and the sizes of the files, a line each, from that in which the backup begins.
func (r *prefetch) list() string {
	var all strings.Builder
	for _, f := range r.files[r.begin:] {
		fmt.Fprintln(&all, f.Name, f.Size)
	}
	return all.String()
}

// get returns a file, and begins to read those that follow it.
func (r *prefetch) get(ctx context.Context, name string) (content []byte, found bool, err error) {
	at, found := r.index[name]
	if !found {
		return nil, false, nil
	}
	wanted := r.load(ctx, at)
	select {
	case <-wanted.done:
	case <-ctx.Done():
		return nil, true, context.Cause(ctx)
	}
	if wanted.err != nil && ctx.Err() == nil {
		r.fail(failureOf(wanted.err))
	}
	return wanted.content, true, wanted.err
}

// load begins to read a file and those that follow it, and forgets the others.
func (r *prefetch) load(ctx context.Context, at int) *loaded {
	r.Lock()
	defer r.Unlock()
	maps.DeleteFunc(r.loading, func(other int, _ *loaded) bool { return other < at || other > at+filesAhead })
	for next := at; next <= min(at+filesAhead, len(r.files)-1); next++ {
		if r.loading[next] != nil {
			continue
		}
		one := &loaded{done: make(chan struct{})}
		r.loading[next] = one
		go func() {
			defer close(one.done)
			one.content, one.err = r.persist(ctx, r.files[next])
		}()
	}
	return r.loading[at]
}

// persist reads a file until it succeeds, or cannot.
func (r *prefetch) persist(ctx context.Context, f archive.File) ([]byte, error) {
	for pause := readPause; ; pause = min(2*pause, maxReadPause) {
		content, err := r.from.content(ctx, f)
		if err == nil || ctx.Err() != nil || failureOf(err).exitCode() != protocol.ExitTransient {
			return content, err
		}
		r.log.Warn("A file of the archive cannot be read now. The recovery waits.", "file", f.Name, "problem", err.Error())
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
