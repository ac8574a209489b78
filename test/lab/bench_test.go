/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"strings"
	"testing"
)

func TestTheRatioComparesMedians(t *testing.T) {
	var measured []Measurement
	for contestant, gaps := range map[string][]float64{"ours": {3, 1, 9}, "bare": {2, 2.5, 2}} {
		for _, gap := range gaps {
			measured = append(measured, Measurement{Contestant: contestant, Disturbance: "switchover", Ways: map[string]Seen{"service": {LongestGap: gap, LongGaps: 1}}})
		}
	}
	table := Ratios(measured, "ours", "bare")
	if want := "| switchover | service | 3 | 3.0 (9.0) | 1 | 2.0 (2.5) | 1 | 1.50 |\n"; !strings.Contains(table, want) {
		t.Errorf("%s\nlacks %s", table, want)
	}
}
