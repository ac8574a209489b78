/*
SPDX-License-Identifier: Apache-2.0
*/

package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// elsewhere are texts in messages of this operator that Kubernetes, a registry or a storage system wrote.
var elsewhere = strings.NewReplacer(
	"0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector", "…",
	"database:missing: not found", "…",
	"the backend has no room", "…",
	"connection refused", "…",
	"(Error)", "…",
)

// examples are words that the code inserts into messages, and that do not look like values.
var examples = []string{"orders", "database", "credentials", "first", "b", "cache", "sync", "list"}

func TestTheComparisonQuotesTheMessagesOfTheCode(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "comparison.md"))
	if err != nil {
		t.Fatal(err)
	}
	code := literals(t, "api/v1alpha1", "internal")
	_, table, _ := strings.Cut(string(page), "| failure | this operator |")
	messages := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 {
			continue
		}
		for _, quoted := range spans.FindAllString(cells[1], -1) {
			messages++
			for _, part := range parts(strings.Trim(quoted, "`")) {
				if !strings.Contains(code, part) {
					t.Errorf("docs/comparison.md, row %q: no message of the operator has %q", strings.TrimPrefix(cells[0], "| "), part)
				}
			}
		}
	}
	if messages < 20 {
		t.Errorf("found only %d quoted messages and reasons", messages)
	}
}

// parts returns the parts of a message that the code has to contain: names of fields of the spec, and runs of words between
// values and punctuation. Of a single word only a reason is a part.
func parts(message string) []string {
	if !strings.Contains(message, " ") {
		return []string{`"` + message + `"`}
	}
	var all, run []string
	end := func() {
		if len(run) > 1 {
			all = append(all, strings.Join(run, " "))
		}
		run = nil
	}
	for word := range strings.FieldsSeq(elsewhere.Replace(message)) {
		bare := strings.Trim(word, ".,:;()")
		switch {
		case strings.HasPrefix(bare, "spec."):
			end()
			all = append(all, bare[strings.LastIndex(bare, ".")+1:]) // the code may build the path
		case strings.ContainsAny(bare, `0123456789/…"=`), slices.Contains(examples, bare):
			end()
		default:
			if run = append(run, bare); strings.TrimRight(word, ".,:;)") != word {
				end()
			}
		}
	}
	end()
	return all
}

func TestThePartsOfAMessageHaveNoValues(t *testing.T) {
	cases := map[string][]string{
		"BackupOverdue": {`"BackupOverdue"`},
		"Secret credentials, which spec.container.envFrom names, does not exist. Create what is missing": {
			"envFrom", "does not exist", "Create what is missing",
		},
		`spec.parameters sets "cash". Until you correct this, the operator waits for Job orders-1 (or not)`: {
			"parameters", "Until you correct this", "the operator waits for Job", "or not",
		},
	}
	for message, want := range cases {
		if got := parts(message); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", message, got, want)
		}
	}
}
