/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"testing"
	"time"
)

// history has two writers. Row 2 of b was committed before row 3 of a, but acknowledged after it.
func history() *History {
	h := &History{Acknowledged: map[ID]time.Time{}}
	for _, row := range []struct {
		writer             string
		number             int
		committed, noticed float64
	}{{"a", 1, 1, 1.1}, {"b", 1, 1.2, 1.25}, {"a", 2, 2, 2.1}, {"b", 2, 3, 3.4}, {"a", 3, 3.2, 3.3}} {
		id := ID{row.writer, row.number}
		h.Commits = append(h.Commits, Commit{id, at(row.committed)})
		h.Acknowledged[id] = at(row.noticed)
	}
	return h
}

func TestARecoveryHasEachCommitUntilTheMomentAndNoOther(t *testing.T) {
	for _, test := range []struct {
		name             string
		moment           float64
		restored         map[string]Spans
		missing, surplus int
	}{
		{"before all", 0.5, nil, 0, 0},
		{"all", 9, map[string]Spans{"a": {{1, 3}}, "b": {{1, 2}}}, 0, 0},
		{"exactly at a commit", 2, map[string]Spans{"a": {{1, 2}}, "b": {{1, 1}}}, 0, 0},
		{"one too few", 2.5, map[string]Spans{"a": {{1, 1}}, "b": {{1, 1}}}, 1, 0},
		{"one too many", 2.5, map[string]Spans{"a": {{1, 3}}, "b": {{1, 1}}}, 0, 1},
		{"a hole", 9, map[string]Spans{"a": {{1, 1}, {3, 3}}, "b": {{1, 2}}}, 1, 0},
		{"a row that the database has lost", 2.5, map[string]Spans{"a": {{1, 2}}, "b": {{1, 1}}, "c": {{1, 2}}}, 0, 2},
		{"the other commit was first in the log", 3.1, map[string]Spans{"a": {{1, 2}}, "b": {{1, 1}}}, 0, 0},
		{"or was not", 3.1, map[string]Spans{"a": {{1, 2}}, "b": {{1, 2}}}, 0, 0},
		{"a row that no other one can have overtaken", 3.25, map[string]Spans{"a": {{1, 3}}, "b": {{1, 1}}}, 1, 0},
	} {
		missing, surplus := history().Compare(at(test.moment), test.restored)
		if len(missing) != test.missing || len(surplus) != test.surplus {
			t.Errorf("%s: missing %v, surplus %v", test.name, missing, surplus)
		}
	}
}

func TestALossIsMeasuredFromTheLastRowOfTheWriterThatLostMost(t *testing.T) {
	s := Snapshot{At: at(3.375), Newest: at(1.5)}
	got := history().LossAt(s, map[string]Spans{"a": {{1, 1}, {3, 3}}, "b": {{1, 1}}}, time.Second)
	if want := (Loss{NewestMoment: 1.875, NewestRow: 2.125, Older: 1, Holes: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestTimesOfCommitsHaveMicroseconds(t *testing.T) {
	commits, err := parseCommits("writers1-service 7 1764352800123456\n")
	want := Commit{ID{"writers1-service", 7}, time.UnixMicro(1764352800123456)}
	if err != nil || len(commits) != 1 || commits[0].ID != want.ID || !commits[0].At.Equal(want.At) {
		t.Errorf("%v, %v", commits, err)
	}
	if _, err := parseCommits("writers1-service 7 \n"); err == nil {
		t.Error("a row without a time is accepted")
	}
	moment, err := seconds("1764352800.123456789\n")
	if err != nil || !moment.Equal(time.Unix(1764352800, 123456789)) {
		t.Errorf("%v, %v", moment, err)
	}
}
