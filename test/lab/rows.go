/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Row is a row whose commit a server acknowledged.
type Row struct {
	Number int
	At     time.Time
	// Tenure is the address of the server and its timeline. Each promotion starts another timeline.
	Tenure string
}

// parseRows reads the file of a writer. Its last line may be incomplete.
func parseRows(text string) ([]Row, error) {
	var rows []Row
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			continue
		}
		number, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		at, tenure, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(number)
		seconds, problem := strconv.ParseFloat(at, 64)
		if err != nil || problem != nil || tenure == "" {
			return nil, fmt.Errorf("the writer recorded %q", line)
		}
		rows = append(rows, Row{Number: n, At: time.UnixMilli(int64(seconds * 1000)), Tenure: tenure})
	}
	return rows, nil
}

// Between returns the rows of a period.
func Between(rows []Row, start, end time.Time) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(row Row) bool { return row.At.Before(start) || row.At.After(end) })
}

// Gaps returns the periods without an acknowledged row between two times that are longer than a minimum.
func Gaps(rows []Row, start, end time.Time, minimum time.Duration) []time.Duration {
	var gaps []time.Duration
	last := start
	for _, row := range append(Between(rows, start, end), Row{At: end}) {
		if gap := row.At.Sub(last); gap > minimum {
			gaps = append(gaps, gap)
		}
		last = row.At
	}
	return gaps
}

// Longest returns the longest gap, or 0.
func Longest(gaps []time.Duration) time.Duration {
	return slices.Max(append(gaps, 0))
}

// TwoPrimaries returns the longest time in which two servers both acknowledged rows.
func TwoPrimaries(rows []Row) time.Duration {
	type period struct{ first, last time.Time }
	periods := map[string]*period{}
	for _, row := range rows {
		p := periods[row.Tenure]
		if p == nil {
			p = &period{row.At, row.At}
			periods[row.Tenure] = p
		}
		p.first, p.last = Earliest(p.first, row.At), Latest(p.last, row.At)
	}
	var longest time.Duration
	for a, one := range periods {
		for b, other := range periods {
			if a < b {
				longest = max(longest, Earliest(one.last, other.last).Sub(Latest(one.first, other.first)))
			}
		}
	}
	return longest
}

// Earliest returns the first of two times.
func Earliest(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Latest returns the last of two times.
func Latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Spans are the numbers that a database has, as ranges.
type Spans [][2]int

// All are the rows of a database that has lost nothing.
var All = Spans{{0, math.MaxInt}}

// parseSpans reads lines such as 3-17.
func parseSpans(text string) (Spans, error) {
	var spans Spans
	for line := range strings.FieldsSeq(text) {
		var span [2]int
		if _, err := fmt.Sscanf(line, "%d-%d", &span[0], &span[1]); err != nil {
			return nil, fmt.Errorf("the database returned %q: %w", line, err)
		}
		spans = append(spans, span)
	}
	return spans, nil
}

// Missing returns the acknowledged rows that the database does not have.
func (s Spans) Missing(rows []Row) []Row {
	var missing []Row
	for _, row := range rows {
		if !slices.ContainsFunc(s, func(span [2]int) bool { return span[0] <= row.Number && row.Number <= span[1] }) {
			missing = append(missing, row)
		}
	}
	return missing
}
