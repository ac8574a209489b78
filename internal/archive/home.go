/*
SPDX-License-Identifier: Apache-2.0
*/

package archive

import (
	"slices"
	"strings"
	"time"
)

// home is the index of the range in which a backup begins, -1 for none, and the number of its first file in each range. Servers that do not
// know of each other may give their files the same names. So the newest range with the file counts that also has the end of the backup, or
// can still get it. If the times exclude all, clocks were wrong.
func home(ranges []Range, b BaseBackup) (in int, begin []int64) {
	begin = begins(ranges, b.Start)
	for _, fits := range []func(i int) bool{
		func(i int) bool {
			return (i == len(ranges)-1 || !ranges[i].Newest().Before(b.Ended)) && fit(ranges, begin, i, b, 0)
		},
		func(i int) bool { return fit(ranges, begin, i, b, clocks) },
		func(int) bool { return true },
	} {
		for i := range slices.Backward(ranges) {
			if begin[i] >= 0 && (b.Ended.IsZero() || fits(i)) {
				return i, begin
			}
		}
	}
	return -1, begin
}

// fit reports whether a backup can be of a range: the log before its first file is not later, by clocks that differ by so much, and if the
// range has none, no earlier range has the file and the end of the backup.
func fit(ranges []Range, begin []int64, i int, b BaseBackup, differ time.Duration) bool {
	before := begin[i] == ranges[i].First && covered(ranges[:i], begin, b.Ended)
	return !before && !ranges[i].after(begin[i], b.Ended.Add(differ))
}

// covered reports whether a range has the file in which a backup begins, and everything until its end.
func covered(ranges []Range, begin []int64, ended time.Time) bool {
	for i := range ranges {
		if begin[i] >= 0 && !ranges[i].Newest().Before(ended) {
			return true
		}
	}
	return false
}

// begins are the numbers of the file in which a backup begins, one for each range; -1 for none. If no range has a file of that name, it is
// the last one before it: a database may know where it is in its log, and not which file has that place.
func begins(ranges []Range, start string) []int64 {
	exact, near := make([]int64, len(ranges)), make([]int64, len(ranges))
	found := false
	for i := range ranges {
		exact[i], near[i] = -1, ranges[i].before(start)
		if sequence, has := ranges[i].Files[start]; has {
			exact[i], found = sequence, true
		}
	}
	if found {
		return exact
	}
	return near
}

// before is the number of the last file whose name sorts before another one and is equal to it up to the last "-"; -1 for none.
func (r *Range) before(name string) (sequence int64) {
	history, last := name[:strings.LastIndex(name, "-")+1], ""
	if sequence = -1; history == "" {
		return sequence
	}
	for file, number := range r.Files {
		if file > last && file < name && strings.HasPrefix(file, history) && !strings.Contains(file[len(history):], "-") {
			sequence, last = number, file
		}
	}
	return sequence
}

// clocks is by how much the clock of a backup may be behind those of the database.
const clocks = time.Hour

// after reports whether the log before a file, and all that follows, is later than a time.
func (r *Range) after(begin int64, end time.Time) bool {
	before := -1
	for i, mark := range r.marks {
		if mark.sequence < begin {
			before = i
		}
	}
	return before >= 0 && !slices.ContainsFunc(r.marks[before:], func(mark placed) bool { return !mark.Time.After(end) })
}
