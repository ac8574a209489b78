/*
SPDX-License-Identifier: Apache-2.0
*/

package lab

import (
	"strings"
	"testing"
)

func TestTheTableOfClientsHasMediansMaximaAndAllLostCommits(t *testing.T) {
	var measured []Measurement
	for _, seen := range []Seen{{Errors: 3, LongestGap: 1, Acknowledged: 100, Lost: 1}, {Errors: 7, LongestGap: 4, Acknowledged: 90, Lost: 2}, {Acknowledged: 80}} {
		measured = append(measured, Measurement{Disturbance: "failover", Ways: map[string]Seen{"service": seen}})
	}
	table := ClientTable(measured)
	for _, want := range []string{
		"| disturbance | runs | p50 (max) of | Service | PgBouncer companion | CloudNativePG: Service | CloudNativePG: Pooler |\n|---|---|---|---|---|---|---|\n",
		"| failover | 3 | errors | 3 (7) | - | - | - |\n", "| failover | 3 | longest gap, s | 1.0 (4.0) | - | - | - |\n",
		"| failover | 3 | commits | 90 | - | - | - |\n", "| failover | 3 | commits lost | 3 | - | - | - |\n",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("%s\nlacks %s", table, want)
		}
	}
}

func TestAWayHasTheSumsAndMaximaOfItsClients(t *testing.T) {
	one := Seen{Acknowledged: 10, Errors: 1, Lost: 1, LongestGap: 2, LongGaps: 1, TwoPrimaries: 0.5}
	other := Seen{Acknowledged: 20, Errors: 2, LongestGap: 3, LongGaps: 2}
	if got, want := one.and(other), (Seen{30, 3, 1, 3, 3, 0.5}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
