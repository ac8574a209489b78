/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestANewPodWithoutANodeHasNoProblemYet(t *testing.T) {
	now := time.Unix(1000, 0)
	for name, c := range map[string]struct {
		change  func(*Member)
		age     time.Duration
		problem bool
		wait    time.Duration
	}{
		"just created":            {func(*Member) {}, time.Second, false, schedulingDelay - time.Second},
		"created a while ago":     {func(*Member) {}, schedulingDelay, true, 0},
		"it has another problem":  {func(m *Member) { m.Unscheduled = false }, time.Second, true, 0},
		"the clocks differ a bit": {func(*Member) {}, -time.Second, false, schedulingDelay + time.Second},
	} {
		m := Member{Created: metav1.NewTime(now.Add(-c.age)), Problem: "cannot be scheduled", Unscheduled: true, Stuck: true}
		c.change(&m)
		if got := m.AsOf(now); (got.Problem != "") != c.problem || got.Stuck != c.problem {
			t.Errorf("%s: the problem is %q", name, got.Problem)
		}
		if got := (Observed{At: now, Members: []Member{{Node: "b"}, m}}).ScheduledIn(); got != c.wait {
			t.Errorf("%s: the next pass is due in %s, want %s", name, got, c.wait)
		}
	}
}

func TestTheNextPassIsDueWhenTheFirstPodHasAProblem(t *testing.T) {
	now := time.Unix(1000, 0)
	created := func(ago time.Duration) Member {
		return Member{Unscheduled: true, Created: metav1.NewTime(now.Add(-ago))}
	}
	o := Observed{At: now, Members: []Member{created(time.Second), created(schedulingDelay), created(8 * time.Second), {}}}
	if got := o.ScheduledIn(); got != schedulingDelay-8*time.Second {
		t.Errorf("it is due in %s", got)
	}
}
