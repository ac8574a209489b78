/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "database", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

func TestTheProblemOfAPodNamesTheCauseWithoutTimesOrCounters(t *testing.T) {
	crashed := waiting("CrashLoopBackOff", "back-off 2m40s restarting failed container")
	crashed.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 127, Reason: "Error"}
	cases := map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"a pod that runs":    {corev1.PodStatus{Phase: corev1.PodRunning}, ""},
		"a pod that starts":  {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("ContainerCreating", "")}}, ""},
		"an image not there": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("ErrImagePull", "not found")}}, "container database: ErrImagePull: not found"},
		"a missing Secret": {
			corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{waiting("CreateContainerConfigError", `secret "orders" not found`)}},
			`container database: CreateContainerConfigError: secret "orders" not found`,
		},
		"a crash loop": {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{crashed}}, "container database: CrashLoopBackOff: it exits with code 127 (Error)"},
		"an init container": {
			corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{waiting("ErrImagePull", "no")}, ContainerStatuses: []corev1.ContainerStatus{waiting("PodInitializing", "")}},
			"container database: ErrImagePull: no",
		},
		"no node": {
			corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: "0/1 nodes are available"}}},
			"cannot be scheduled: 0/1 nodes are available",
		},
		"a pod that ended": {corev1.PodStatus{Phase: corev1.PodFailed}, "failed"},
		"an evicted pod":   {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, "failed: Evicted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := MemberOf(&corev1.Pod{Status: c.status}, 0).Problem; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMemberIsNotBrokenWhileItIsReady(t *testing.T) {
	if (Member{Ready: true, Problem: "a sidecar waits"}).Broken() || !(Member{Problem: "no image"}).Broken() {
		t.Error("broken is: not ready, and a reason is known")
	}
	if (Member{Ready: true, Stopping: true}).Serving() || (Member{Stopping: true, Problem: "failed"}).Broken() {
		t.Error("a member on its way out neither serves nor is broken")
	}
}

func TestWhatIsNotKnownIsNotTakenForOutdated(t *testing.T) {
	members := []Member{{Name: "a", Revision: "old"}, {Name: "b", Revision: "new"}}
	cases := map[string]struct {
		set  *appsv1.StatefulSet
		want int
	}{
		"no StatefulSet":                   {nil, 0},
		"its controller has not seen it":   {&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: appsv1.StatefulSetStatus{ObservedGeneration: 1, UpdateRevision: "new"}}, 0},
		"its controller names no revision": {&appsv1.StatefulSet{}, 0},
		"its controller names a revision":  {&appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{UpdateRevision: "new"}}, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := (Observed{StatefulSet: c.set, Members: members}).Outdated(); len(got) != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestAHookHasEndedOnlyWhenItsJobSaysSo(t *testing.T) {
	job := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status, Message: "why"}}}}
	}
	cases := map[string]struct {
		job  *batchv1.Job
		want Hook
	}{
		"it has just started":     {&batchv1.Job{}, Hook{}},
		"it is done":              {job(batchv1.JobComplete, corev1.ConditionTrue), Hook{Succeeded: true}},
		"it has failed":           {job(batchv1.JobFailed, corev1.ConditionTrue), Hook{Failed: true, Failure: "why"}},
		"it is about to be done":  {job(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue), Hook{}},
		"its condition is untrue": {job(batchv1.JobFailed, corev1.ConditionFalse), Hook{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := HookOf(c.job); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
