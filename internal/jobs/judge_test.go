/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"maps"
	"slices"
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

func TestTheStateOfAnActionFollowsFromItsJob(t *testing.T) {
	current, changed := []objects.Child{madeFrom("a")}, []objects.Child{madeFrom("b"), madeFrom("c")}
	late := &metav1.Time{Time: now.Add(-time.Hour - Unanswered)}
	unmet := &protocol.Result{Message: "the key is missing"}
	for name, c := range map[string]struct {
		task     Job
		expected Expected
		want     Standing
		cause    string
	}{
		"it runs":                              {task: Job{Active: true}, want: Running},
		"its Job is being deleted":             {task: Job{Ending: true, Succeeded: true}, want: Terminating},
		"it is done":                           {task: Job{Succeeded: true, MadeFrom: "a"}, expected: Expected{Desired: changed}, want: Succeeded},
		"what it did does not count":           {task: Job{Succeeded: true}, expected: Expected{Restart: true}, want: Superseded},
		"it has failed":                        {task: Job{Failed: true, Failure: "backoff"}, want: Failed, cause: "backoff"},
		"it has failed without a word":         {task: Job{Name: "j", Pod: "p", Failed: true}, want: Failed, cause: "Job j did not finish within its deadline: pod p does not respond"},
		"its node does not answer":             {task: Job{Name: "j", Pod: "p", Failing: true, StartTime: late}, want: Lost, cause: "Job j did not finish within its deadline: pod p does not respond"},
		"its configuration is current":         {task: Job{MadeFrom: "a"}, expected: Expected{Desired: current}, want: Running},
		"its configuration is one of those":    {task: Job{MadeFrom: "c"}, expected: Expected{Desired: changed}, want: Running},
		"its configuration has changed":        {task: Job{MadeFrom: "a"}, expected: Expected{Desired: changed}, want: Superseded},
		"and has started":                      {task: Job{MadeFrom: "a", Started: true}, expected: Expected{Desired: changed}, want: Running},
		"and has failed":                       {task: Job{MadeFrom: "a", Failed: true, Component: dbv1.ComponentBackup}, expected: Expected{Desired: changed}, want: Failed, cause: "Job  did not finish within its deadline: pod  does not respond"},
		"a restore that has failed":            {task: Job{MadeFrom: "a", Failed: true, Component: dbv1.ComponentRestore}, expected: Expected{Desired: changed}, want: Superseded},
		"a restore that is attempted again":    {task: Job{MadeFrom: "a", Started: true, Code: 1, Component: dbv1.ComponentRestore}, expected: Expected{Desired: changed}, want: Superseded},
		"a restore whose next attempt runs":    {task: Job{MadeFrom: "a", Started: true, Code: 1, Active: true, Component: dbv1.ComponentRestore}, expected: Expected{Desired: changed}, want: Running},
		"a restore that is about to fail":      {task: Job{MadeFrom: "a", Started: true, Code: 30, Final: true, Component: dbv1.ComponentRestore}, expected: Expected{Desired: changed}, want: Failing},
		"a backup that is attempted again":     {task: Job{MadeFrom: "a", Started: true, Code: 1, Component: dbv1.ComponentBackup}, expected: Expected{Desired: changed}, want: Running},
		"the desired configuration is unknown": {task: Job{MadeFrom: "a"}, want: Running},
		"its pod cannot start":                 {task: Job{Pod: "p", Problem: "no image", Remedy: "Correct it"}, want: Blocked, cause: "pod p: no image"},
		"no other attempt follows":             {task: Job{Final: true, Result: &protocol.Result{Message: "refused"}}, want: Failing, cause: "refused"},
		"the user has to act":                  {task: Job{Result: unmet, Exit: protocol.ExitPrecondition}, want: Unmet, cause: "the key is missing"},
		"an attempt has got further since":     {task: Job{Result: unmet, Exit: protocol.ExitPrecondition, Progress: &protocol.Progress{Bytes: 1}}, want: Retrying, cause: "the key is missing"},
		"it is attempted again":                {task: Job{Result: &protocol.Result{Message: "no such host"}}, want: Retrying, cause: "no such host"},
	} {
		t.Run(name, func(t *testing.T) {
			c.expected.Deadline = time.Hour
			if v := Judge(c.task, true, c.expected, now); v.Standing != c.want || v.Cause != c.cause {
				t.Errorf("got %d, %q, want %d, %q", v.Standing, v.Cause, c.want, c.cause)
			}
		})
	}
	if v := Judge(Job{}, false, Expected{}, now); v.Standing != Absent {
		t.Errorf("without a Job: %d", v.Standing)
	}
}

func TestAVerdictHasTheTimeUntilAFailingJobCountsAsLost(t *testing.T) {
	task := Job{Failing: true, StartTime: &metav1.Time{Time: now.Add(-time.Hour)}}
	if v := Judge(task, true, Expected{Deadline: time.Hour}, now); v.Standing != Running || v.Left != Unanswered {
		t.Errorf("%d, %s", v.Standing, v.Left)
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
	} {
		if got := Judge(c.task, true, Expected{}, now).Sentence(usual, c.seen); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestEachKindOfActionHasItsLimits(t *testing.T) {
	rows := map[string]struct {
		retries  int32
		deadline time.Duration
		log      Log
	}{
		dbv1.ComponentHook:           {2, 0, LogIgnored},
		dbv1.ComponentBackup:         {6, 12 * time.Hour, LogProgress},
		dbv1.ComponentRestore:        {6, 168 * time.Hour, LogRestore},
		dbv1.ComponentVerification:   {2, 12 * time.Hour, LogAnswer},
		dbv1.ComponentRotation:       {3, time.Hour, LogIgnored},
		dbv1.ComponentBackupDeletion: {6, 168 * time.Hour, LogIgnored},
		dbv1.ComponentReload:         {6, 24 * time.Hour, LogIgnored},
		dbv1.ComponentHandOver:       {2, 10 * time.Minute, LogIgnored},
		dbv1.ComponentMemberRemove:   {6, time.Hour, LogIgnored},
		dbv1.ComponentConfigure:      {3, time.Hour, LogIgnored},
	}
	if known := slices.Sorted(maps.Keys(rows)); !slices.Equal(known, Components()) {
		t.Fatalf("there are rows of %v, want %v: add a new kind here", Components(), known)
	}
	for component, want := range rows {
		if kind := KindOf(component); kind.Retries != want.retries || kind.Deadline(nil) != want.deadline || kind.Log != want.log {
			t.Errorf("%s: %d attempts in %s, log %d", component, kind.Retries, kind.Deadline(nil), kind.Log)
		}
	}
}
