/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"fmt"
	"testing"
)

func TestALateCacheDoesNotChangeTheEnd(t *testing.T) {
	withoutRaces(t)
	for _, sequence := range played() {
		t.Run(sequence.name, func(t *testing.T) {
			skipUnsteady(t, sequence)
			t.Parallel()
			c := campaignOf(t, sequence)
			var failures []string
			plans := sampled(t, sequence.name, c.latenesses(), func(l lateness) int { return l.lag })
			for _, l := range plans {
				lag := lags[l.lag]
				if p, err := c.playLate(c.rounds[l.now], c.rounds[l.now-l.by], lag.kinds); err != nil {
					failures = append(failures, fmt.Sprintf("from round %d %s is late by %d rounds: %v\n\n%s", l.now, lag.what, l.by, err, p.text()))
				}
			}
			t.Logf("%d plans, %d failed", len(plans), len(failures))
			report(t, failures)
		})
	}
}
