/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestAMemberThatIsNotReadyForTooLongIsNamedWithItsCause(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	since := func(d time.Duration) Member {
		return Member{Name: "orders-1", ReadySince: metav1.NewTime(now.Add(-d))}
	}
	crashed, loops, ready, stopping := since(time.Hour), since(time.Hour), since(time.Hour), since(time.Hour)
	crashed.Problem, ready.Ready, stopping.Terminating = "container database: exited with code 1", true, true
	loops.Problem, loops.Stuck = crashed.Problem, true
	for name, c := range map[string]struct {
		member        Member
		message, want string
		refuses       string
	}{
		"it has just started":          {since(time.Minute), "Readiness probe failed: not yet", "", ""},
		"its probe has a cause":        {since(10 * time.Minute), "Readiness probe failed: copies\n the data ", "is not ready: copies the data", ""},
		"another probe fails":          {since(10 * time.Minute), "Startup probe failed: it waits", "is not ready: Startup probe failed: it waits", ""},
		"nothing is known":             {since(10 * time.Minute), "", "is not ready; see kubectl describe pod orders-1", ""},
		"clients cannot write":         {since(10 * time.Minute), "Readiness probe failed: no writes: the disk is full", "is not ready: no writes: the disk is full", "the disk is full"},
		"clients cannot write for 10s": {since(10 * time.Second), "Readiness probe failed: no writes: the disk is full", "", "the disk is full"},
		"its container has ended":      {crashed, "", "container database: exited with code 1", ""},
		"it runs again, and is full":   {crashed, "Readiness probe failed: no writes: full", "container database: exited with code 1; now it is not ready: no writes: full", "full"},
		"its container ends each time": {loops, "", "container database: exited with code 1", ""},
		"it is ready":                  {ready, "", "", ""},
		"it is terminating":            {stopping, "", "", ""},
		"it has no times":              {Member{Name: "orders-1"}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.member
			if m.Silent(now) {
				m = m.Hear(c.message)
			} else if c.message != "" {
				t.Fatal("nobody reads its events")
			}
			if got := m.Ailing(now); got != c.want || m.Refuses() != c.refuses {
				t.Errorf("got %q, %q", got, m.Refuses())
			}
		})
	}
}

func TestTheEventsOfAMemberThatIsNotReadyAreReadAgain(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]time.Duration{
		0: heardAfter, 2 * time.Second: 8 * time.Second, heardAfter: 20 * time.Second, 31 * time.Second: 29 * time.Second, UnreadyDelay: heardAgain,
	} {
		o := Observed{At: now, Members: []Member{{Ready: true}, {ReadySince: metav1.NewTime(now.Add(-age))}}}
		if got := o.HeardIn(); got != want {
			t.Errorf("after %s: %s, want %s", age, got, want)
		}
	}
	if got := (Observed{At: now, Members: []Member{{Ready: true, ReadySince: metav1.NewTime(now)}}}).HeardIn(); got != 0 {
		t.Error("a healthy cluster looks for events in", got)
	}
}
