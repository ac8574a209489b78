/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import "time"

// schedulingDelay is how long a new pod may have no node until that is a problem: its claim is usually bound within a moment, and until
// then it cannot be scheduled.
const schedulingDelay = 10 * time.Second

// AsOf returns the member without a problem that is expected to pass by itself.
func (m Member) AsOf(now time.Time) Member {
	if m.scheduledIn(now) > 0 {
		m.Problem, m.Remedy, m.Stuck = "", "", false
	}
	return m
}

// scheduledIn returns the time until a pod that cannot be scheduled has a problem; 0 if it is scheduled.
func (m Member) scheduledIn(now time.Time) time.Duration {
	if !m.Unscheduled {
		return 0
	}
	return max(0, m.Created.Add(schedulingDelay).Sub(now))
}

// ScheduledIn returns the time until another pod that cannot be scheduled has a problem; 0 for none.
func (o Observed) ScheduledIn() time.Duration {
	var soonest time.Duration
	for _, m := range o.Members {
		if left := m.scheduledIn(o.At); left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}

// ConvergesIn returns the time until another member has been ready for that long; 0 if none is only waiting for time to pass.
func (o Observed) ConvergesIn(after time.Duration) time.Duration {
	var soonest time.Duration
	for _, m := range o.Members {
		left := m.steadyIn(o.At, after)
		if m.Ready && !m.Terminating && left > 0 && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}
