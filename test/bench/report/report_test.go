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
{"machine":{"form":"thin","commit of before":"1234567"}}
{"form":"thin","round":1,"clusters":10,"who":"before","phase":"create","figure":"writes","value":9}
{"form":"thin","round":1,"clusters":100,"who":"operator","phase":"restart","figure":"peak_resident_bytes","value":50000000}
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
	got := d.aims()
	for _, want := range []string{
		"| writes a cluster, creation to Ready | thin | 7 or less | 9 | 8 | 10 | no |",
		"| heap a cluster without its members, KB | thin | 25 or less | – | 20 | 10 | yes |",
		"| peak resident memory after a restart, MB | thin | – | – | 50 | 100 | – |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := d.ratios(); !strings.Contains(got, "| thin | 10 | operator | 2 | – |") {
		t.Error(got)
	} else if strings.Contains(got, "| thin | 100 |") {
		t.Errorf("a size without the floor has a row:\n%s", got)
	}
}

func TestFactsOfContestantsAreAddedToThoseOfTheMachine(t *testing.T) {
	d, err := read(directory(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.machine("thin"); !strings.Contains(got, "| commit of before | 1234567 |\n| cores | 2 |") {
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
	if got := d.block("plots"); err != nil || got != "![Writes per cluster, from its creation to Ready](thin-writes.svg)\n\n" {
		t.Errorf("%v: %s", err, got)
	}
}

// The tables are those of the published raw data: figures are not written by hand.
func TestThePublishedTablesAreThoseOfThePublishedRawData(t *testing.T) {
	docs := filepath.Join("..", "..", "..", "docs")
	d, err := read(filepath.Join(docs, "benchmarks"))
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(docs, "benchmarks", results)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if filled, err := d.fill(string(text)); err != nil || filled != string(text) {
		t.Errorf("%s differs from the raw data (%v): run `make bench-docs`", page, err)
	}
}

func TestThePlotOfAutoscalersHasEachLineAndTheTimesWithLoad(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "autoscaling.jsonl"), filepath.Join(dir, "autoscaling.svg")
	samples := `{"seconds":0,"load":true,"wanted":2,"ready":2}` + "\n" + `{"seconds":5,"load":false,"wanted":4,"ready":3,"age":1.5}` + "\n"
	if err := os.WriteFile(from, []byte(samples), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"--autoscaling", from, "--out", to}); err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(to) //nolint:gosec // the file of this test
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"spec.replicas of the cluster", "ready poolers", "through the pooler", "age of the oldest answer", "#E8E8E8"} {
		if !strings.Contains(string(picture), want) {
			t.Errorf("no %q in the plot", want)
		}
	}
	if err := os.WriteFile(from, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run([]string{"--autoscaling", from, "--out", to}); err == nil {
		t.Error("a file without samples is drawn")
	}
}
