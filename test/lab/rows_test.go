/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"slices"
	"testing"
	"time"
)

var start = time.UnixMilli(1_000_000)

func at(seconds float64) time.Time {
	return start.Add(time.Duration(seconds * float64(time.Second)))
}

func TestAWriterThatWasInterruptedLeavesAnIncompleteLine(t *testing.T) {
	rows, err := parseRows("1 1000.500 10.0.0.1 00000001\n2 1001.250 10.0.0.1 00000001\n3 10")
	want := []Row{{1, at(0.5), "10.0.0.1 00000001"}, {2, at(1.25), "10.0.0.1 00000001"}}
	if err != nil || !slices.Equal(rows, want) {
		t.Errorf("%v, %v", rows, err)
	}
	if _, err := parseRows("1 now\n"); err == nil {
		t.Error("a line without a time is accepted")
	}
}

func TestTheEndOfAnObservationEndsAGap(t *testing.T) {
	rows := []Row{{At: at(-1)}, {At: at(1)}, {At: at(1.5)}, {At: at(4)}, {At: at(20)}}
	gaps := Gaps(rows, at(0), at(10), 900*time.Millisecond)
	if want := []time.Duration{time.Second, 2500 * time.Millisecond, 6 * time.Second}; !slices.Equal(gaps, want) {
		t.Errorf("%v, want %v", gaps, want)
	}
	if Longest(gaps) != 6*time.Second || Longest(nil) != 0 {
		t.Error("the longest gap is wrong")
	}
}

func TestTwoServersAreTwoPrimariesWhileBothAcknowledgeRows(t *testing.T) {
	rows := []Row{{1, at(0), "a 1"}, {2, at(5), "a 1"}, {3, at(3), "b 2"}, {4, at(9), "b 2"}, {5, at(10), "a 3"}}
	if got := TwoPrimaries(rows); got != 2*time.Second {
		t.Errorf("two primaries for %v", got)
	}
	if got := TwoPrimaries([]Row{{1, at(0), "a 1"}, {2, at(1), "b 2"}, {3, at(2), "a 3"}}); got != 0 {
		t.Errorf("one primary after the other counts as %v", got)
	}
}

func TestAnAcknowledgedRowThatTheDatabaseLacksIsMissing(t *testing.T) {
	spans, err := parseSpans("1-3\n5-5\n")
	if err != nil {
		t.Fatal(err)
	}
	missing := spans.Missing([]Row{{Number: 1}, {Number: 4}, {Number: 5}, {Number: 6}})
	if len(missing) != 2 || missing[0].Number != 4 || missing[1].Number != 6 {
		t.Errorf("%v", missing)
	}
}
