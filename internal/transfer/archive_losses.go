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
	found  chan string // the name of a lost object
}

// due reports whether to look now: regularly, and while no object is on its way.
func (l *losses) due(now time.Time, r *archiveRun) bool {
	has, end := r.uploads.state(), r.recorder.End()
	return now.Sub(l.looked) >= min(lossesEvery*r.MaxLag, maxLossesEvery) && has.File == end.File && has.Offset == end.End
}

// look lists the objects of one file.
func (l *losses) look(ctx context.Context, store *store, parts []string) {
	if len(parts) == 0 {
		return
	}
	file, _, _ := strings.Cut(parts[0], ".")
	listed, err := store.list(ctx, file+".")
	if err != nil {
		return // the next upload reports what is wrong
	}
	for _, part := range parts {
		if _, has := listed[part]; !has {
			select {
			case l.found <- part:
			default: // another one is waiting
			}
			return
		}
	}
}

// again stores the growing file once more, unless another one has begun.
func (r *archiveRun) again(lost string) []archive.Upload {
	if !slices.Contains(r.recorder.Parts(), lost) {
		return nil
	}
	r.log.Warn("The destination has lost an object that it had acknowledged. The bytes are stored again.", "object", lost)
	r.recorder.Again()
	return r.recorder.Cut()
}
