/*
SPDX-License-Identifier: Apache-2.0
*/

package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// Outcome is the result of a check.
type Outcome string

// The results of a check.
const (
	Passed     Outcome = "passed"
	Failed     Outcome = "FAILED"
	NotOffered Outcome = "not offered"
)

// Row is one check of the contract.
type Row struct {
	Name    string
	Outcome Outcome
	Seconds float64
	// Seen is one sentence: what the check saw, or why the engine does not offer it.
	Seen string
}

// Table is the result of a run in Markdown.
func Table(engine *dbv1.DatabaseEngine, image string, rows []Row) string {
	var text strings.Builder
	counts := map[Outcome]int{}
	for _, row := range rows {
		counts[row.Outcome]++
	}
	fmt.Fprintf(&text,
		"# %s\n\n%s in the image `%s`: %d passed, %d failed, %d not offered. %s\n\n| check | result | s | seen |\n|---|---|---|---|\n",
		engine.Name, engine.Spec.Topology, image, counts[Passed], counts[Failed], counts[NotOffered], Lines(engine))
	for _, row := range rows {
		seconds := "-"
		if row.Outcome != NotOffered {
			seconds = fmt.Sprintf("%.0f", row.Seconds)
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s |\n", row.Name, row.Outcome, seconds, cell(row.Seen))
	}
	return text.String()
}

// cell is a text in one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// Lines describes the size of an engine: the lines of its scripts that are neither empty nor comments.
func Lines(engine *dbv1.DatabaseEngine) string {
	lines, all := 0, 0
	for _, name := range slices.Sorted(maps.Keys(engine.Spec.Scripts)) {
		for line := range strings.Lines(string(engine.Spec.Scripts[name])) {
			all++
			if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "#") {
				lines++
			}
		}
	}
	return fmt.Sprintf("It has %d scripts with %d lines, %d of them code.", len(engine.Spec.Scripts), all, lines)
}
