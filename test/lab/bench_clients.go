/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"fmt"
	"slices"
	"strings"
)

// columns are the ways of the clients of DatabaseClusters and of CloudNativePG, and their titles.
var columns = [][2]string{
	{"service", "Service"}, {"companion", "PgBouncer companion"}, {"rw", "CloudNativePG: Service"}, {"pooler", "CloudNativePG: Pooler"},
}

// figure is a line of a disturbance.
type figure struct {
	name string
	cell func([]Seen) string
}

var figures = []figure{
	{"errors", func(all []Seen) string {
		errors := values(all, func(seen Seen) int { return seen.Errors })
		return fmt.Sprintf("%d (%d)", p50(errors), slices.Max(errors))
	}},
	{"longest gap, s", func(all []Seen) string {
		gaps := values(all, func(seen Seen) float64 { return seen.LongestGap })
		return fmt.Sprintf("%.1f (%.1f)", p50(gaps), slices.Max(gaps))
	}},
	{"commits", func(all []Seen) string {
		return fmt.Sprint(p50(values(all, func(seen Seen) int { return seen.Acknowledged })))
	}},
	{"commits lost", func(all []Seen) string {
		lost := 0
		for _, seen := range all {
			lost += seen.Lost
		}
		return fmt.Sprint(lost)
	}},
}

func values[N any](all []Seen, value func(Seen) N) []N {
	var numbers []N
	for _, seen := range all {
		numbers = append(numbers, value(seen))
	}
	return numbers
}

// ClientTable is a Markdown table of what clients saw in each run of a disturbance: medians, maxima in parentheses, and the sum of lost
// commits.
func ClientTable(measured []Measurement) string {
	all, order := map[[2]string][]Seen{}, []string{}
	for _, m := range measured {
		if !slices.Contains(order, m.Disturbance) {
			order = append(order, m.Disturbance)
		}
		for way, seen := range m.Ways {
			key := [2]string{m.Disturbance, way}
			all[key] = append(all[key], seen)
		}
	}
	var text strings.Builder
	text.WriteString("| disturbance | runs | p50 (max) of |")
	for _, column := range columns {
		text.WriteString(" " + column[1] + " |")
	}
	text.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for _, disturbance := range order {
		for _, figure := range figures {
			fmt.Fprintf(&text, "| %s | %d | %s |", disturbance, len(all[[2]string{disturbance, columns[0][0]}]), figure.name)
			for _, column := range columns {
				text.WriteString(" " + figure.of(all[[2]string{disturbance, column[0]}]) + " |")
			}
			text.WriteString("\n")
		}
	}
	return text.String()
}

func (f figure) of(all []Seen) string {
	if len(all) == 0 {
		return "-"
	}
	return f.cell(all)
}
