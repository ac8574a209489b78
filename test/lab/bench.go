/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Measurement has the gaps of one disturbance.
type Measurement struct {
	Time        time.Time       `json:"time"`
	Contestant  string          `json:"contestant"`
	Disturbance string          `json:"disturbance"`
	Load        float64         `json:"load"`
	Ways        map[string]Seen `json:"ways"`
}

// series are the longest gaps of the runs of a disturbance, and the number of gaps over a second.
type series struct {
	longest []float64
	gaps    []int
}

// p50 is the median, the lower one of two.
func p50[N cmp.Ordered](values []N) N {
	var none N
	if len(values) == 0 {
		return none
	}
	return slices.Sorted(slices.Values(values))[(len(values)-1)/2]
}

func (s series) String() string {
	if len(s.longest) == 0 {
		return "- | -"
	}
	return fmt.Sprintf("%.1f (%.1f) | %d", p50(s.longest), slices.Max(s.longest), p50(s.gaps))
}

// Ratios is a Markdown table that compares two contestants by the median of the longest gap of each run.
func Ratios(measured []Measurement, ours, other string) string {
	all, order := map[[3]string]series{}, []string{}
	for _, m := range measured {
		if !slices.Contains(order, m.Disturbance) {
			order = append(order, m.Disturbance)
		}
		for way, seen := range m.Ways {
			key := [3]string{m.Disturbance, way, m.Contestant}
			all[key] = series{append(all[key].longest, seen.LongestGap), append(all[key].gaps, seen.LongGaps)}
		}
	}
	var text strings.Builder
	fmt.Fprintf(&text,
		"| disturbance | client | runs | %s: gap p50 (max), s | gaps over 1 s | %s: gap p50 (max), s | gaps over 1 s | ratio of p50 |\n"+
			"|---|---|---|---|---|---|---|---|\n", ours, other)
	for _, disturbance := range order {
		for _, way := range Ways {
			a, b := all[[3]string{disturbance, way, ours}], all[[3]string{disturbance, way, other}]
			fmt.Fprintf(&text, "| %s | %s | %d | %s | %s | %.2f |\n", disturbance, way, len(a.longest), a, b, p50(a.longest)/p50(b.longest))
		}
	}
	return text.String()
}
