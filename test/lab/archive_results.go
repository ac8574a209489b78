/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ArchiveResult is one run of a fault of the archive.
type ArchiveResult struct {
	Result
	// MaxLag is that of the archive, in seconds.
	MaxLag int `json:"maxLagSeconds"`
	// Loss is what a loss of all volumes would have cost at the beginning of the fault.
	Loss    Loss    `json:"loss"`
	Moments Moments `json:"moments"`
}

// Moments are the moments that a run recovered after the fault.
type Moments struct {
	// Restored are those that were recovered, and Exact those of them that have the right rows.
	Restored int `json:"restored"`
	Exact    int `json:"exact"`
	// Refused are those that transfer refused, because the archive does not cover them.
	Refused int `json:"refused"`
	// Rows are the rows that the restored moments should have in total, Missing those that they lacked, and Surplus the others that they had.
	Rows    int `json:"rows"`
	Missing int `json:"missing"`
	Surplus int `json:"surplus"`
	// Seconds is the time that all recoveries took.
	Seconds float64 `json:"seconds"`
}

// Add counts other moments, too.
func (m *Moments) Add(other Moments) {
	m.Restored, m.Exact, m.Refused = m.Restored+other.Restored, m.Exact+other.Exact, m.Refused+other.Refused
	m.Rows, m.Missing, m.Surplus = m.Rows+other.Rows, m.Missing+other.Missing, m.Surplus+other.Surplus
	m.Seconds += other.Seconds
}

// archiveTotal has the sums and maxima of several runs.
type archiveTotal struct {
	total

	moments Moments
	loss    Loss
}

func (t *archiveTotal) String() string {
	m, l := t.moments, t.loss
	return fmt.Sprintf("%d | %d | %d | %d | %d | %d | %d | %d | %.1f / %.1f | %d | %d", t.runs, t.acknowledged, t.lost, m.Restored, m.Exact,
		m.Refused, m.Missing, m.Surplus, l.NewestMoment, l.NewestRow, l.Older, t.problems)
}

// ArchiveMarkdown is a table with a line for each fault and durability, in the order of the first runs.
func ArchiveMarkdown(results []ArchiveResult) string {
	type kind struct{ fault, synchronous string }
	totals, order := map[kind]*archiveTotal{}, map[string]int{}
	for _, r := range results {
		if _, known := order[r.Fault]; !known {
			order[r.Fault] = len(order)
		}
		k := kind{r.Fault, r.Synchronous}
		if totals[k] == nil {
			totals[k] = &archiveTotal{total: total{longest: map[string]float64{}}}
		}
		t := totals[k]
		t.add(r.Result)
		t.moments.Add(r.Moments)
		t.loss.NewestMoment, t.loss.NewestRow = max(t.loss.NewestMoment, r.Loss.NewestMoment), max(t.loss.NewestRow, r.Loss.NewestRow)
		t.loss.Older += r.Loss.Older
	}
	var text strings.Builder
	text.WriteString("| fault | synchronous | runs | rows acknowledged | lost by a failover | moments restored | exact | refused " +
		"| rows missing | rows too many | newest moment / row before the fault (s) | rows missing that are older than `maxLagSeconds` | runs with problems |\n" +
		strings.Repeat("|---", 13) + "|\n")
	for _, k := range slices.SortedFunc(maps.Keys(totals), func(a, b kind) int {
		return cmp.Or(cmp.Compare(order[a.fault], order[b.fault]), -cmp.Compare(a.synchronous, b.synchronous))
	}) {
		fmt.Fprintf(&text, "| %s | %s | %s |\n", k.fault, k.synchronous, totals[k])
	}
	return text.String()
}
