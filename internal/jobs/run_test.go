/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// madeFrom returns a desired Job with this hash.
func madeFrom(hash string) objects.Child {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAnnotations(map[string]string{dbv1.AnnotationApplied: hash})
	return objects.Child{Object: object}
}

func TestTheNextStepForAnActionFollowsFromItsJob(t *testing.T) {
	current, changed := []objects.Child{madeFrom("a")}, []objects.Child{madeFrom("b"), madeFrom("c")}
	again := Policy{Desired: changed, Supersede: SupersedeFailed}
	final := Policy{Desired: changed, Supersede: SupersedeRetried}
	late := &metav1.Time{Time: now.Add(-time.Hour - Unanswered)}
	unmet := &protocol.Result{Message: "the key is missing"}
	for name, c := range map[string]struct {
		task    Job
		policy  Policy
		want    Step
		cause   string
		trouble Trouble
	}{
		"it runs":                              {task: Job{Active: true}, want: Wait},
		"its Job is being deleted":             {task: Job{Ending: true, Succeeded: true}, want: AwaitDeletion},
		"it is done":                           {task: Job{Succeeded: true, MadeFrom: "a"}, policy: Policy{Desired: changed}, want: Done},
		"what it did does not count":           {task: Job{Succeeded: true}, policy: Policy{Restart: true}, want: Recreate},
		"it has failed":                        {task: Job{Failed: true, Failure: "backoff"}, want: Failed, cause: "backoff"},
		"it has failed without a word":         {task: Job{Name: "j", Pod: "p", Failed: true}, want: Failed, cause: "Job j did not finish within its deadline: pod p does not respond"},
		"its node does not answer":             {task: Job{Name: "j", Pod: "p", Failing: true, StartTime: late}, want: Lost, cause: "Job j did not finish within its deadline: pod p does not respond"},
		"its configuration is current":         {task: Job{MadeFrom: "a"}, policy: Policy{Desired: current}, want: Wait},
		"its configuration is one of those":    {task: Job{MadeFrom: "c"}, policy: Policy{Desired: changed}, want: Wait},
		"its configuration has changed":        {task: Job{MadeFrom: "a"}, policy: Policy{Desired: changed}, want: Recreate},
		"and has started":                      {task: Job{MadeFrom: "a", Started: true}, policy: Policy{Desired: changed}, want: Wait},
		"and has failed":                       {task: Job{MadeFrom: "a", Failed: true}, policy: Policy{Desired: changed}, want: Failed, cause: "Job  did not finish within its deadline: pod  does not respond"},
		"a restore that has failed":            {task: Job{MadeFrom: "a", Failed: true}, policy: again, want: Recreate},
		"a restore that is attempted again":    {task: Job{MadeFrom: "a", Started: true, Code: 1}, policy: again, want: Recreate},
		"one whose failure is final":           {task: Job{MadeFrom: "a", Failed: true, Failure: "backoff"}, policy: final, want: Failed, cause: "backoff"},
		"and that is attempted again":          {task: Job{MadeFrom: "a", Started: true, Code: 1}, policy: final, want: Recreate},
		"and that has not started":             {task: Job{MadeFrom: "a"}, policy: final, want: Recreate},
		"a restore whose next attempt runs":    {task: Job{MadeFrom: "a", Started: true, Code: 1, Active: true}, policy: again, want: Wait},
		"a restore that is about to fail":      {task: Job{MadeFrom: "a", Started: true, Code: 30, Final: true}, policy: again, want: Wait, trouble: Failing},
		"a backup that is attempted again":     {task: Job{MadeFrom: "a", Started: true, Code: 1}, policy: Policy{Desired: changed}, want: Wait},
		"the desired configuration is unknown": {task: Job{MadeFrom: "a"}, want: Wait},
		"its pod cannot start":                 {task: Job{Pod: "p", Problem: "no image", Remedy: "Correct it"}, want: Wait, trouble: Blocked, cause: "pod p: no image"},
		"no other attempt follows":             {task: Job{Final: true, Result: &protocol.Result{Message: "refused"}}, want: Wait, trouble: Failing, cause: "refused"},
		"the user has to act":                  {task: Job{Result: unmet, Exit: protocol.ExitPrecondition}, want: Wait, trouble: Unmet, cause: "the key is missing"},
		"an attempt has got further since":     {task: Job{Result: unmet, Exit: protocol.ExitPrecondition, Progress: &protocol.Progress{Bytes: 1}}, want: Wait, trouble: Retried, cause: "the key is missing"},
		"it is attempted again":                {task: Job{Result: &protocol.Result{Message: "no such host"}}, want: Wait, trouble: Retried, cause: "no such host"},
	} {
		t.Run(name, func(t *testing.T) {
			c.policy.Deadline = time.Hour
			if r := Run(c.policy, c.task, true, now); r.Step != c.want || r.Trouble != c.trouble || r.Cause != c.cause {
				t.Errorf("got %d, %d, %q, want %d, %d, %q", r.Step, r.Trouble, r.Cause, c.want, c.trouble, c.cause)
			}
		})
	}
	if r := Run(Policy{}, Job{}, false, now); r.Step != Create {
		t.Errorf("without a Job: %d", r.Step)
	}
}

func TestTheResultOfAJobCountsForItsTime(t *testing.T) {
	ended := func(ago time.Duration) Job {
		return Job{Succeeded: true, EndTime: metav1.Time{Time: now.Add(-ago)}}
	}
	failed, going := ended(time.Hour), ended(time.Hour)
	failed.Succeeded, failed.Failed = false, true
	justFailed := ended(0)
	justFailed.Succeeded, justFailed.Failed, justFailed.Failing, justFailed.StartTime = false, true, true, &metav1.Time{Time: now}
	going.Ending = true
	for name, c := range map[string]struct {
		task   Job
		counts time.Duration
		want   Step
	}{
		"for always":                 {ended(time.Hour), 0, Done},
		"as long as it counts":       {ended(time.Minute - 1), time.Minute, Done},
		"no longer":                  {ended(time.Minute), time.Minute, Recreate},
		"nor a failure":              {failed, time.Minute, Recreate},
		"one that was about to fail": {justFailed, time.Minute, Failed},
		"it is being deleted":        {going, time.Minute, AwaitDeletion},
		"it has not ended":           {Job{Started: true}, time.Minute, Wait},
	} {
		left := max(0, c.counts-c.task.EndedFor(now))
		if !c.task.Ended() {
			left = 0
		}
		if r := Run(Policy{CountsFor: c.counts, Deadline: time.Hour}, c.task, true, now); r.Step != c.want || r.Left != left {
			t.Errorf("%s: %d, want %d, again in %s", name, r.Step, c.want, r.Left)
		}
	}
}

func TestAnActionNeedsTheUserIfAllAttemptsWouldFail(t *testing.T) {
	for trouble, want := range map[Trouble]bool{NoTrouble: false, Failing: false, Retried: false, Unmet: true, Blocked: true} {
		if (Result{Trouble: trouble}).NeedsUser() != want {
			t.Errorf("trouble %d: want %t", trouble, want)
		}
	}
}

func TestAResultHasTheTimeUntilAFailingJobCountsAsLost(t *testing.T) {
	task := Job{Failing: true, StartTime: &metav1.Time{Time: now.Add(-time.Hour)}}
	if r := Run(Policy{Deadline: time.Hour}, task, true, now); r.Step != Wait || r.Left != Unanswered {
		t.Errorf("%d, %s", r.Step, r.Left)
	}
}

func TestTheCauseSeenBeforeTheDeadlineStaysInTheSentence(t *testing.T) {
	const usual, seen = "Job j works", "Kubernetes retries Job j: no such host"
	for name, c := range map[string]struct {
		task Job
		seen string
		want string
	}{
		"nothing is wrong":         {Job{Name: "j", Pod: "p"}, seen, usual},
		"its pod is deleted":       {Job{Name: "j"}, seen, seen},
		"nothing was wrong before": {Job{Name: "j"}, usual, usual},
		"its pod is being deleted": {Job{Name: "j", Pod: "p", Leaving: true}, "Job j cannot start: no image", "Job j cannot start: no image"},
		"its end is not known":     {Job{Name: "j", Pod: "p", Problem: "container action: exited with code 137 (ContainerStatusUnknown)"}, "Job j cannot start: no image", "Job j cannot start: no image"},
		"its deadline has passed":  {Job{Name: "j", Pod: "p", Failing: true, Problem: "x"}, seen, seen},
		"it is attempted again":    {Job{Name: "j", Pod: "p", Problem: "x"}, "", "Kubernetes retries Job j: pod p: x"},
		"it cannot start":          {Job{Name: "j", Pod: "p", Problem: "x", Remedy: "Do y"}, "", "Job j cannot start: pod p: x. Do y"},
		"no other attempt comes":   {Job{Name: "j", Pod: "p", Problem: "x", Final: true}, "", "Job j failed: pod p: x"},
		"it has failed":            {Job{Name: "j", Failed: true, Failure: "late"}, "", "Job j failed: late"},
		"nothing more was seen":    {Job{Name: "j", Failed: true, Failure: "late"}, usual, "Job j failed: late"},
		"more was seen":            {Job{Name: "j", Failed: true, Failure: "late"}, seen, "Job j failed: late; " + seen},
		"its last attempt tells":   {Job{Name: "j", Failed: true, Failure: "late", Pod: "p", Problem: "x"}, seen, "pod p: x"},
	} {
		if got := Run(Policy{Purpose: usual, Seen: c.seen}, c.task, true, now).Message; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
