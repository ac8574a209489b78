/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"
	"time"
)

func TestOnlyTheProcessThatRecordedAMomentKnowsTheTimeSince(t *testing.T) {
	now := Uptime{Process: "a", Running: 90*time.Second + time.Millisecond}
	for name, c := range map[string]struct {
		record  string
		elapsed time.Duration
		known   bool
	}{
		"its own record":                       {Uptime{"a", 30 * time.Second}.String(), 60*time.Second + time.Millisecond, true},
		"the record of a moment in a second":   {Uptime{"a", 30*time.Second + 1}.String(), 59*time.Second + time.Millisecond, true},
		"the record of this moment":            {now.String(), 0, true},
		"the record of another process":        {Uptime{"b", 30 * time.Second}.String(), 0, false},
		"a record by the clock":                {"2026-11-26T21:00:00Z", 0, false},
		"no record":                            {"", 0, false},
		"a record of a process without a name": {"+30s", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			if elapsed, known := now.Since(c.record); elapsed != c.elapsed || known != c.known {
				t.Errorf("%v, known: %t", elapsed, known)
			}
		})
	}
	if _, known := (Uptime{}).Since("+1s"); known {
		t.Error("a process without a name knows a record")
	}
}
