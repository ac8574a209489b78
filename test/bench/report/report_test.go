/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const raw = `{"machine":{"form":"thin","cores":"2"}}
{"form":"thin","round":1,"clusters":10,"who":"operator","phase":"create","figure":"writes","value":7}
{"form":"thin","round":2,"clusters":10,"who":"operator","phase":"create","figure":"writes","value":9}
{"form":"thin","round":1,"clusters":10,"who":"floor","phase":"create","figure":"writes","value":4}
{"form":"thin","round":1,"clusters":10,"who":"operator","phase":"create","figure":"heap_bytes","value":50000}
{"form":"thin","round":1,"clusters":10,"who":"operator","phase":"scale_up","figure":"heap_bytes_per_member","value":10000}
{"form":"thin","round":1,"clusters":100,"who":"operator","phase":"create","figure":"writes","value":7.25}
`

// directory has the raw data, and a line of another benchmark.
func directory(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"thin.jsonl": raw, "other.jsonl": `{"contestant":"ours"}` + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestABlockIsReplacedByTheFiguresOfTheRun(t *testing.T) {
	d, err := read(directory(t))
	if err != nil {
		t.Fatal(err)
	}
	const kept = "<!-- figures: full-create -->\nfigures of an older run\n<!-- end of figures -->"
	got, err := d.fill("before\n<!-- figures: thin-create -->\nold\n<!-- end of figures -->\n" + kept + "\nafter")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n", "| 10 | operator | 8 | – |", "| 10 | floor | 4 | – |", "| 100 | operator | 7.25 | – |", " | 50 | 20 | ", kept, "\nafter",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "\nold\n") {
		t.Errorf("the old figures are still there:\n%s", got)
	}
	if again, err := d.fill(got); err != nil || again != got {
		t.Errorf("the second time, the document is another one: %v\n%s", err, again)
	}
	if _, err := d.fill("<!-- figures: thin-dance -->\n<!-- end of figures -->"); err == nil {
		t.Error("an unknown block is accepted")
	}
}

func TestAimsAndRatiosUseTheSameRun(t *testing.T) {
	d, err := read(directory(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.aims(); !strings.Contains(got, "| 7 | 7.25 (100 clusters) | 9 |  |") {
		t.Error(got)
	}
	if got := d.ratios(); !strings.Contains(got, "| thin | 10 | operator | 2 | – |") {
		t.Error(got)
	}
}

func TestPlotsAreDrawnForFiguresOfSeveralSizes(t *testing.T) {
	dir := directory(t)
	if err := run([]string{"--dir", dir}); err != nil {
		t.Fatal(err)
	}
	plot, err := os.ReadFile(filepath.Join(dir, "thin-writes.svg"))
	if err != nil || !strings.Contains(string(plot), "<svg") {
		t.Errorf("%v: %s", err, plot)
	}
	if _, err := os.Stat(filepath.Join(dir, "thin-drift.svg")); err == nil {
		t.Error("a plot without figures is drawn")
	}
	d, err := read(dir)
	if got := d.block("plots"); err != nil || got != "![Writes per cluster, from its creation to Ready](benchmarks/thin-writes.svg)\n\n" {
		t.Errorf("%v: %s", err, got)
	}
}

// The tables are those of the published raw data: figures are not written by hand.
func TestThePublishedTablesAreThoseOfThePublishedRawData(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	text, err := os.ReadFile(filepath.Join(docs, "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := read(filepath.Join(docs, "benchmarks"))
	if err != nil {
		t.Fatal(err)
	}
	if filled, err := d.fill(string(text)); err != nil || filled != string(text) {
		t.Errorf("docs/benchmarks.md differs from the raw data (%v): run `make bench-docs`", err)
	}
}
