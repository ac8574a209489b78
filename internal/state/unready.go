/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/pods"
)

const (
	// heardAfter is how long a member is not ready until the operator reads the events of its pod. The kubelet reports there, and nowhere
	// else, what a failing probe has printed. Most starts are shorter, so they cost no request.
	heardAfter = 10 * time.Second
	// heardAgain is the interval of further reads. The output of a probe may change, and no watched field shows it.
	heardAgain = 30 * time.Second
	// UnreadyDelay is how long a member may be not ready until that is a problem. Most starts are shorter.
	UnreadyDelay = 2 * time.Minute
)

// noWrites starts the output of a readiness probe if the database accepts no writes. Reads may work.
const noWrites = "no writes: "

// Silent reports whether a member is not ready for a cause that its pod may not show.
func (m Member) Silent(now time.Time) bool {
	age, known := m.unready(now)
	return known && age >= heardAfter
}

// Hear records the newest message about a member that is not ready, in the words of the kubelet; "" for none.
func (m Member) Hear(message string) Member {
	for _, prefix := range []string{"Readiness probe failed: ", "Readiness probe errored: "} {
		message = strings.TrimPrefix(message, prefix)
	}
	m.Probe = pods.Head(strings.Join(strings.Fields(message), " "), pods.MaxLastWords)
	return m
}

// Refuses returns why the database accepts no writes, as a member reports; "" if it does not report that.
func (m Member) Refuses() string {
	cause, refuses := strings.CutPrefix(m.Probe, noWrites)
	if !refuses {
		return ""
	}
	return cause
}

// Refusing returns the first member that reports that the database accepts no writes.
func (o Observed) Refusing() (refusing Member, found bool) {
	return First(o.Members, func(m Member) bool { return m.Refuses() != "" })
}

// Ailing returns why a member is not healthy: it cannot run, or has not been ready for too long; "" if it is healthy.
func (m Member) Ailing(now time.Time) string {
	age, known := m.unready(now)
	switch {
	case m.Broken(now) && m.Probe != "":
		return m.Problem + "; now it is not ready: " + m.Probe
	case m.Broken(now):
		return m.Problem
	case !known || age < UnreadyDelay:
		return ""
	case m.Probe == "":
		return "is not ready; see kubectl describe pod " + m.Name
	default:
		return "is not ready: " + m.Probe
	}
}

// unready returns for how long a member is not ready, although it has a node, and its container is not known to be unable to run.
func (m Member) unready(now time.Time) (age time.Duration, known bool) {
	if m.Ready || m.Terminating || m.Stuck || m.Unscheduled || m.Down().IsZero() {
		return 0, false
	}
	return now.Sub(m.Down()), true
}

// HeardIn returns the time until the operator reads the events of another member that is not ready; 0 for never.
func (o Observed) HeardIn() (soonest time.Duration) {
	for _, m := range o.Members {
		if left, known := m.HeardIn(o.At); known && (soonest == 0 || left < soonest) {
			soonest = left
		}
	}
	return soonest
}

// HeardIn returns the time until the operator reads the events of a member that is not ready. For any other it is not known.
func (m Member) HeardIn(now time.Time) (left time.Duration, known bool) {
	age, known := m.unready(now)
	if left = heardAfter - age; left <= 0 {
		left = heardAgain - age%heardAgain
	}
	return left, known
}
