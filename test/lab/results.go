/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Seen is what one writer saw during a fault, or all writers of a way.
type Seen struct {
	Acknowledged int     `json:"acknowledged"`
	Errors       int     `json:"errors,omitempty"`
	Lost         int     `json:"lost"`
	LongestGap   float64 `json:"longestGapSeconds"`
	LongGaps     int     `json:"gapsOverOneSecond"`
	TwoPrimaries float64 `json:"twoPrimariesSeconds"`
}

// See counts the rows of a writer between two times. All rows count as acknowledged or lost.
func See(rows []Row, stored Spans, start, end time.Time) Seen {
	gaps := Gaps(rows, start, end, 0)
	long := slices.DeleteFunc(slices.Clone(gaps), func(gap time.Duration) bool { return gap <= time.Second })
	return Seen{
		Acknowledged: len(rows), Lost: len(stored.Missing(rows)),
		LongestGap: Longest(gaps).Seconds(), LongGaps: len(long), TwoPrimaries: TwoPrimaries(rows).Seconds(),
	}
}

// and returns what two writers saw: sums and maxima.
func (s Seen) and(other Seen) Seen {
	return Seen{
		Acknowledged: s.Acknowledged + other.Acknowledged, Errors: s.Errors + other.Errors, Lost: s.Lost + other.Lost,
		LongestGap: max(s.LongestGap, other.LongestGap), LongGaps: s.LongGaps + other.LongGaps,
		TwoPrimaries: max(s.TwoPrimaries, other.TwoPrimaries),
	}
}

// Result is one run of a fault.
type Result struct {
	Time        time.Time `json:"time"`
	Fault       string    `json:"fault"`
	Synchronous string    `json:"synchronous"`
	Operator    string    `json:"operator"`
	Seed        int64     `json:"seed,omitempty"`
	// Load is the load average of the machine after the run. A busy machine makes gaps longer.
	Load float64         `json:"load"`
	Ways map[string]Seen `json:"ways"`
	// Recovered is the time from the fault until all members were healthy, in seconds.
	Recovered float64  `json:"recoveredSeconds"`
	Problems  []string `json:"problems,omitempty"`
}

// Load returns the load average of the last minute.
func Load() float64 {
	text, err := os.ReadFile("/proc/loadavg")
	var load float64
	if err == nil {
		_, _ = fmt.Sscan(string(text), &load)
	}
	return load
}

// Append adds a result to a file with one JSON object a line.
func Append(path string, result any) error {
	text, err := json.Marshal(result)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // everybody may read it
	if err != nil {
		return err
	}
	if _, err := file.Write(append(text, '\n')); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

// total has the sums and maxima of several runs.
type total struct {
	runs, acknowledged, lost, problems int
	longest                            map[string]float64
	recovered, twoPrimaries            float64
}

func (t *total) add(r Result) {
	t.runs++
	t.problems += min(1, len(r.Problems))
	t.recovered = max(t.recovered, r.Recovered)
	for way, seen := range r.Ways {
		t.acknowledged += seen.Acknowledged
		t.lost += seen.Lost
		t.longest[way] = max(t.longest[way], seen.LongestGap)
		t.twoPrimaries = max(t.twoPrimaries, seen.TwoPrimaries)
	}
}

func (t *total) String() string {
	return fmt.Sprintf("%d | %d | %d | %.1f / %.1f | %.1f | %.0f | %d", t.runs, t.acknowledged, t.lost,
		t.longest[Ways[0]], t.longest[Ways[1]], t.twoPrimaries, t.recovered, t.problems)
}

// Markdown is a table with a line for each fault, durability and state of the operator, in the order of the first runs.
func Markdown(results []Result) string {
	type kind struct{ fault, synchronous, operator string }
	totals, order := map[kind]*total{}, map[string]int{}
	for _, r := range results {
		if _, known := order[r.Fault]; !known {
			order[r.Fault] = len(order)
		}
		k := kind{r.Fault, r.Synchronous, r.Operator}
		if totals[k] == nil {
			totals[k] = &total{longest: map[string]float64{}}
		}
		totals[k].add(r)
	}
	var text strings.Builder
	text.WriteString("| fault | synchronous | operator | runs | rows acknowledged | rows lost | longest gap, Service / all hosts (s) " +
		"| two primaries (s) | recovered after (s) | runs with problems |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, k := range slices.SortedFunc(maps.Keys(totals), func(a, b kind) int {
		return cmp.Or(cmp.Compare(order[a.fault], order[b.fault]), -cmp.Compare(a.synchronous, b.synchronous),
			cmp.Compare(a.operator, b.operator))
	}) {
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", k.fault, k.synchronous, k.operator, totals[k])
	}
	return text.String()
}
