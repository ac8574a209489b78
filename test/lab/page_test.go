/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/benchmarks")

var benchmarks = filepath.Join("..", "..", "docs", "benchmarks")

// The tables are those of the published raw data: figures are not written by hand.
func TestThePublishedTablesAreThoseOfThePublishedRawData(t *testing.T) {
	for page, blocks := range map[string]map[string]string{
		"faults.md": {
			"faults":   Markdown(published[Result](t, "faults.jsonl")),
			"failover": Ratios(published[Measurement](t, "failover.jsonl"), "ours", "bare"),
		},
		"clients.md":        {"clients": ClientTable(published[Measurement](t, "clients.jsonl"))},
		"archive-faults.md": {"archive-faults": ArchiveMarkdown(published[ArchiveResult](t, "archive-faults.jsonl"))},
	} {
		checkPage(t, filepath.Join(benchmarks, page), blocks)
	}
}

// checkPage compares blocks of a page with tables.
func checkPage(t *testing.T, page string, blocks map[string]string) {
	t.Helper()
	text, err := os.ReadFile(page) //nolint:gosec // of this repository
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for block, table := range blocks {
		begin, end := "<!-- "+block+" -->\n", "<!-- end of "+block+" -->"
		found := regexp.MustCompile("(?s)" + begin + ".*?" + end)
		if !found.MatchString(want) {
			t.Fatalf("%s has no block %q", page, block)
		}
		want = found.ReplaceAllLiteralString(want, begin+table+end)
	}
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s differs from the raw data: run `go test ./test/lab -update`", page)
	}
	if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
}

// published reads the raw data in a file.
func published[T any](t *testing.T, name string) []T {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(benchmarks, name)) //nolint:gosec // of this repository
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	for line := range strings.Lines(string(text)) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
	return all
}
