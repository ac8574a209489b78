/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTheTableOfTheArchiveHasSumsOfMomentsAndTheLargestLoss(t *testing.T) {
	run := func(synchronous string, lag float64, m Moments) ArchiveResult {
		return ArchiveResult{Result: Result{Fault: "kill", Synchronous: synchronous, Ways: map[string]Seen{"service": {Acknowledged: 10, Lost: 1}}},
			Loss: Loss{NewestMoment: lag, NewestRow: lag / 2, Older: 1}, Moments: m}
	}
	table := ArchiveMarkdown([]ArchiveResult{
		run("off", 2, Moments{Restored: 20, Exact: 20}), run("on", 1, Moments{Restored: 3, Exact: 2, Refused: 1, Missing: 7, Surplus: 2}),
		run("off", 3, Moments{Restored: 20, Exact: 19, Missing: 4}),
	})
	lines := strings.Split(table, "\n")
	for i, want := range []string{
		"| kill | on | 1 | 10 | 1 | 3 | 2 | 1 | 7 | 2 | 1.0 / 0.5 | 1 | 0 |",
		"| kill | off | 2 | 20 | 2 | 40 | 39 | 0 | 4 | 0 | 3.0 / 1.5 | 2 | 0 |",
	} {
		if lines[2+i] != want {
			t.Errorf("the table lacks %s:\n%s", want, table)
		}
	}
	if columns := strings.Count(lines[0], "|"); columns != strings.Count(lines[1], "|") || columns != strings.Count(lines[2], "|") {
		t.Errorf("the lines have different columns:\n%s", table)
	}
}

func TestAResultOfTheArchiveIsReadAsItWasWritten(t *testing.T) {
	want := ArchiveResult{Result: Result{Fault: "kill", Load: 2}, MaxLag: 1, Moments: Moments{Restored: 20, Exact: 20}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got ArchiveResult
	if err := json.Unmarshal(text, &got); err != nil || got.Fault != want.Fault || got.Load != want.Load || got.Moments != want.Moments {
		t.Errorf("%s: %+v, %v", text, got, err)
	}
}
