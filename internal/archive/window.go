/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"slices"
	"time"
)

// BaseBackup is a backup from which an archive can be replayed.
type BaseBackup struct {
	// Start is the file of the archive in which the backup begins. A recovery needs no earlier file.
	Start string
	// Ended is the end of the backup: no earlier moment can be recovered from it.
	Ended time.Time
}

// Span is a time in which every moment can be recovered.
type Span struct{ Oldest, Newest time.Time }

// Spans are what can be recovered from these backups, oldest first, one for each range at most. Based reports whether a backup begins in
// the last range, so whether moments that are archived from now on can be recovered.
func (c Listing) Spans(bases []BaseBackup) (spans []Span, based bool) {
	ranges := c.Ranges()
	for i, oldest := range oldestOf(ranges, bases) {
		newest := ranges[i].Newest()
		if !oldest.IsZero() && !newest.Before(oldest) {
			spans = append(spans, Span{oldest, newest})
		}
		based = !oldest.IsZero() && c[len(c)-1].Record != Gap
	}
	return spans, based
}

// oldestOf are the ends of the first backups that begin in ranges, by the index of the range; zero for none.
func oldestOf(ranges []Range, bases []BaseBackup) []time.Time {
	oldest := make([]time.Time, len(ranges))
	for _, base := range bases {
		i := rangeOf(ranges, base.Start)
		if i >= 0 && (oldest[i].IsZero() || base.Ended.Before(oldest[i])) {
			oldest[i] = base.Ended
		}
	}
	return oldest
}

// rangeOf is the index of the newest range with a file, -1 for none.
func rangeOf(ranges []Range, file string) int {
	for i, r := range slices.Backward(ranges) {
		if _, has := r.Files[file]; has {
			return i
		}
	}
	return -1
}
