/*
SPDX-License-Identifier: Apache-2.0
*/

package state_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
)

func TestTheAgeOfAResultDoesNotDependOnTheDifferenceOfTwoClocks(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, skew := range []time.Duration{-time.Hour, -time.Minute, 0, time.Minute, time.Hour} {
		theirs := now.Add(skew)
		task := jobs.Job{CreatedAt: now.Add(-30 * time.Second), StartTime: new(metav1.NewTime(theirs.Add(-30 * time.Second))), EndTime: metav1.NewTime(theirs.Add(-10 * time.Second))}
		if got := task.EndedFor(now); got != 10*time.Second {
			t.Errorf("the other clock is ahead by %v: %v", skew, got)
		}
	}
	if got := (jobs.Job{CreatedAt: now}).EndedFor(now); got != 0 {
		t.Errorf("a Job that has not ended: %v", got)
	}
	if got := (jobs.Job{EndTime: metav1.NewTime(now.Add(-time.Minute))}).EndedFor(now); got != time.Minute {
		t.Errorf("a Job of another version of the operator: %v", got)
	}
}
