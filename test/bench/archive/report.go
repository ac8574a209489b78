/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	_ "embed" // the page
	"fmt"
	"os"
	"slices"
	"strings"
	"text/template"
	"time"
)

// everyone stands for all contestants in figures.
const everyone = "all"

// column is a column of a table: its head, and the cell of a contestant, "" for none.
type column struct {
	head string
	cell func(figures, string) string
}

// spreadOf shows a figure.
func spreadOf(what string) func(figures, string) string {
	return func(f figures, c string) string { return spread(f.of(c, what)) }
}

// at shows the percentile of a figure, 50 for its median.
func at(what string, percent float64) func(figures, string) string {
	return func(f figures, c string) string {
		values := f.of(c, what)
		switch {
		case len(values) == 0:
			return "–"
		case percent == 50:
			return number(median(values))
		default:
			return number(percentile(values, percent))
		}
	}
}

func countOf(what string) func(figures, string) string {
	return func(f figures, c string) string { return fmt.Sprint(len(f.of(c, what))) }
}

func sumOf(what string) func(figures, string) string {
	return func(f figures, c string) string {
		sum := 0.0
		for _, value := range f.of(c, what) {
			sum += value
		}
		return number(sum)
	}
}

// ratioTo shows a figure divided by that of the server without an archive, each of the same round.
func ratioTo(base, what string) func(figures, string) string {
	return func(f figures, c string) string {
		mine, others := f[key{c, what}], f[key{base, what}]
		var ratios []float64
		for round := range min(len(mine), len(others)) {
			ratios = append(ratios, mine[round]/others[round])
		}
		slices.Sort(ratios)
		return spread(ratios)
	}
}

// table has the columns of a phase.
type table struct {
	phase   string
	columns []column
}

//go:embed page.md.tmpl
var page string

// facts are what the page says about the run.
type facts struct {
	*bench

	Command, Commit, Date, Machine, Conditions, Lag, Backlog, Base, Log string
	Small                                                               bool
	Rate, Calm, Seconds                                                 int
}

// Has reports whether a phase was measured.
func (f facts) Has(phase string) bool { return slices.Contains(f.phases, phase) }

// Table renders the table of a phase.
func (f facts) Table(phase string) string {
	return strings.TrimSpace(f.render(tables[slices.IndexFunc(tables, func(t table) bool { return t.phase == phase })]))
}

// write writes the page.
func (b *bench) write() error {
	parsed, err := template.New("page").Parse(page)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	var text strings.Builder
	err = parsed.Execute(&text, facts{
		bench: b, Command: b.command, Commit: b.commit, Date: time.Now().UTC().Format("January 2, 2006"), Machine: b.machine(),
		Conditions: b.conditions(), Lag: fmt.Sprintf("%d s", int(b.lag.Seconds())), Backlog: number(b.backlog.gib),
		Base: at(recoveredBase, 50)(b.figures, everyone), Log: at(recoveredLog, 50)(b.figures, everyone),
		Small: b.baseGiB < 10 || b.logGiB < 5 || b.rounds < 3, Rate: b.rate, Calm: b.calm, Seconds: b.seconds,
	})
	if err != nil {
		return fmt.Errorf("render the page: %w", err)
	}
	if err := os.WriteFile(b.out, []byte(text.String()), 0o644); err != nil { //nolint:gosec // a document
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func (b *bench) render(t table) string {
	var text strings.Builder
	text.WriteString("| |")
	for _, c := range t.columns {
		text.WriteString(" " + c.head + " |")
	}
	text.WriteString("\n|" + strings.Repeat("---|", len(t.columns)+1) + "\n")
	takes := phases[slices.IndexFunc(phases, func(p phase) bool { return p.name == t.phase })].takes
	for _, c := range b.contestants {
		if !takes(c) {
			continue
		}
		text.WriteString("| " + titles[c.name()] + " |")
		if c.missing() != "" {
			text.WriteString(" not measured: " + c.missing() + " |" + strings.Repeat(" |", len(t.columns)-1) + "\n")
			continue
		}
		for _, column := range t.columns {
			text.WriteString(" " + column.cell(b.figures, c.name()) + " |")
		}
		text.WriteString("\n")
	}
	return text.String()
}

// titles are the first cells of the rows.
var titles = map[string]string{
	"postgresql-v1": "archive of `postgresql-v1`", "postgresql-single-v1": "archive of `postgresql-single-v1`",
	"pg_receivewal": "`pg_receivewal`, to a folder", "archive_command": "`archive_command`, `zstd`, uploader",
	"pgBackRest": "pgBackRest, asynchronous", nameOfNone: "no archive",
}

// tables are all tables of the page.
var tables = []table{
	{"loss", []column{
		{"losses", countOf(lossOfServer)}, {"the server is lost: median s", at(lossOfServer, 50)}, {"p99", at(lossOfServer, 99)},
		{"max", at(lossOfServer, 100)}, {"most rows lost", at(lostRows, 100)}, {"only the bucket is left: median s", at(lossOfMachines, 50)},
		{"p99", at(lossOfMachines, 99)}, {"max", at(lossOfMachines, 100)}, {"earlier rows missing", sumOf(holes)}}},
	{"drain", []column{
		{"MiB/s", spreadOf(drainRate)}, {"CPU s/GiB, server", spreadOf(cpuServer)}, {"receiver", spreadOf(cpuReceiver)},
		{"S3 server", spreadOf(cpuStore)}, {"stored, of the log", spreadOf(storedShare)}, {"memory, MiB", spreadOf(memoryBeside)}}},
	{"effect", []column{
		{"commit, median ms", spreadOf(latencyMedian)}, {"p99 ms", spreadOf(latencyHigh)}, {"receiver, % of a core", spreadOf(cpuCalm)},
		{"transactions/s", spreadOf(throughput)}, {"of those without an archive", ratioTo(nameOfNone, throughput)}}},
	{"recovery", []column{
		{"seconds", spreadOf(recoveryAll)}, {"restore", spreadOf(recoveryRestore)}, {"replay", spreadOf(recoveryReplay)},
		{"of pgBackRest", ratioTo("pgBackRest", recoveryAll)}, {"CPU seconds", spreadOf(recoveryCPU)},
		{"memory of `transfer` or `pgbackrest`, MiB", spreadOf(recoveryTool)}, {"of all but PostgreSQL", spreadOf(recoveryOthers)}}},
}
