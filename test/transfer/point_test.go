//go:build s3

/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"slices"
	"strings"
)

// point is a named point in the log, with the rows before and after its creation.
type point struct {
	name          string
	before, after []int
}

// mark creates a named point while there are writes.
func (p postgresql) mark(m member) point {
	p.t.Helper()
	rows := func() []int { return numbers(strings.Fields(p.ask(m.port, "SELECT n FROM row"))) }
	to := point{name: `it's the "last" = point`, before: rows()}
	p.ask(m.port, "SELECT pg_create_restore_point('"+strings.ReplaceAll(to.name, "'", "''")+"')")
	to.after = rows()
	return to
}

// within reports whether sorted rows have all that were there before, and none that was not there after.
func within(rows, before, after []int) bool {
	has := func(of []int, n int) bool { _, found := slices.BinarySearch(of, n); return found }
	return !slices.ContainsFunc(before, func(n int) bool { return !has(rows, n) }) && !slices.ContainsFunc(rows, func(n int) bool { return !has(after, n) })
}
