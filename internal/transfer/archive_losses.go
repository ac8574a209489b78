/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// lossesEvery is the time between two looks for lost objects, in units of MaxLag, and at most maxLossesEvery.
	lossesEvery    = 20
	maxLossesEvery = time.Minute
)

// losses looks for objects of the growing file that the store has acknowledged and lost. The file is still in memory, so its bytes can be
// stored again. Without that, nothing after the loss could be recovered until the file ends, and a backup of that time begins in it.
type losses struct {
	looked time.Time
	found  chan string // the name of a lost object; "" if none is lost
	busy   bool        // a look has not ended
}

// find starts a look when it is due: less often for many objects, because a listing has a thousand of them.
func (r *archiveRun) find(now time.Time) {
	l, every := &r.losses, min(lossesEvery*r.MaxLag, maxLossesEvery)
	if l.busy || now.Sub(l.looked) < every {
		return
	}
	parts := r.recorder.Parts()
	acknowledged := slices.Index(parts, r.uploads.acknowledged()) + 1 // others may be on their way
	if acknowledged == 0 || now.Sub(l.looked) < every*time.Duration(1+len(parts)/1000) {
		return
	}
	l.looked, l.busy = now, true
	go func() {
		r.reclaim(r.uploads.ctx)
		l.found <- missing(r.uploads.ctx, r.uploads.store, parts[:acknowledged])
	}()
}

// reclaim writes the owner again if it is lost. Without it, jobs list the archive as if it were a backup.
func (r *archiveRun) reclaim(ctx context.Context) {
	if exists, err := r.store.bucket.Exists(ctx, protocol.ArchiveName); err != nil || exists {
		return // the next upload reports what is wrong
	}
	r.log.Warn("The destination has lost the owner of the archive. It is stored again.", "object", protocol.ArchiveName)
	if err := r.claim(ctx); err != nil {
		r.log.Warn(failureOf(err).Message)
	}
}

// missing returns an object of one file that is lost; "" for none. A listing may be late, so the store is asked for the object itself, too.
func missing(ctx context.Context, store *store, parts []string) string {
	file, _, _ := strings.Cut(parts[0], ".")
	listed, err := store.list(ctx, file+".")
	if err != nil {
		return "" // the next upload reports what is wrong
	}
	for _, part := range parts {
		if _, has := listed[part]; has {
			continue
		}
		if exists, err := store.bucket.Exists(ctx, part); err == nil && !exists {
			return part
		}
	}
	return ""
}

// again stores the growing file once more, unless another one has begun.
func (r *archiveRun) again(lost string) []archive.Upload {
	r.losses.busy = false
	if !slices.Contains(r.recorder.Parts(), lost) {
		return nil
	}
	r.log.Warn("The destination has lost an object that it had acknowledged. The bytes are stored again.", "object", lost)
	r.recorder.Again()
	return r.recorder.Cut()
}
