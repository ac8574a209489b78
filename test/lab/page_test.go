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

var update = flag.Bool("update", false, "write the tables of docs/benchmarks/faults.md")

// The tables are those of the published raw data: figures are not written by hand.
func TestThePublishedTablesAreThoseOfThePublishedRawData(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "benchmarks", "faults.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	want := string(text)
	for block, table := range map[string]string{
		"faults": Markdown(published[Result](t)), "failover": Ratios(published[Measurement](t), "ours", "bare"),
	} {
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

// published reads the raw data of a kind: of faults or of the comparison with bare Patroni.
func published[T Result | Measurement](t *testing.T) []T {
	t.Helper()
	name := "faults.jsonl"
	if _, is := any(*new(T)).(Measurement); is {
		name = "failover.jsonl"
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "benchmarks", name))
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
