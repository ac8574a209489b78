/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"testing"

	"github.com/dbcluster/databasecluster-operator/test/world"
)

func TestALateCacheDoesNotChangeTheEnd(t *testing.T) {
	withoutRaces(t)
	for _, sequence := range played() {
		t.Run(sequence.Name, func(t *testing.T) {
			skip(t, sequence, unsteady)
			t.Parallel()
			c := campaignOf(t, sequence)
			var failures []string
			plans := sampled(t, sequence.Name, c.Latenesses(), func(l world.Lateness) int { return l.Lag })
			for _, l := range plans {
				lag := world.Lags[l.Lag]
				if p, err := c.PlayLate(c.Rounds[l.Now], c.Rounds[l.Now-l.By], lag.Kinds); err != nil {
					failures = append(failures, fmt.Sprintf("from round %d %s is late by %d rounds: %v\n\n%s", l.Now, lag.What, l.By, err, p.Text()))
				}
			}
			t.Logf("%d plans, %d failed", len(plans), len(failures))
			report(t, failures)
		})
	}
}
