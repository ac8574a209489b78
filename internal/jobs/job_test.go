/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"reflect"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestATaskHasEndedOnlyWhenItsJobHas(t *testing.T) {
	job := func(kind batchv1.JobConditionType, status corev1.ConditionStatus) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: kind, Status: status, Message: "why"}}}}
	}
	cases := map[string]struct {
		job  *batchv1.Job
		want Job
	}{
		"it has just started":     {&batchv1.Job{}, Job{}},
		"a pod of it runs":        {&batchv1.Job{Status: batchv1.JobStatus{Active: 1}}, Job{Active: true, Started: true}},
		"it is done":              {job(batchv1.JobComplete, corev1.ConditionTrue), Job{Succeeded: true}},
		"it has failed":           {job(batchv1.JobFailed, corev1.ConditionTrue), Job{Failed: true, Failure: "why"}},
		"it is about to have":     {job(batchv1.JobFailureTarget, corev1.ConditionTrue), Job{Failing: true}},
		"it is about to be done":  {job(batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue), Job{}},
		"it is being deleted":     {&batchv1.Job{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}, Job{Ending: true}},
		"its condition is untrue": {job(batchv1.JobFailed, corev1.ConditionFalse), Job{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Of(c.job, nil); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// ended returns a pod of a Job, created at that minute, whose main container has ended.
func ended(name string, minute int, code int32, message string) corev1.Pod {
	pod := corev1.Pod{}
	pod.Name, pod.CreationTimestamp = name, metav1.NewTime(time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC))
	pod.Status.Phase = corev1.PodFailed
	if code == 0 {
		pod.Status.Phase = corev1.PodSucceeded
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "action", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error", Message: message},
	}}}
	return pod
}

func TestTheNewestPodHasTheStateOfATask(t *testing.T) {
	waiting := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "new", CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC))}}
	waiting.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "action", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}},
	}}
	restored := ended("new", 9, 0, "")
	restored.Status.Phase, restored.Status.InitContainerStatuses, restored.Status.ContainerStatuses = corev1.PodFailed, restored.Status.ContainerStatuses, nil
	restored.Status.InitContainerStatuses[0].Name = "restore"
	restored.Status.InitContainerStatuses[0].State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 30, Message: `{"message":"a piece is missing"}`}
	// Its container has terminated, but its phase is not updated yet.
	ending := ended("new", 9, 0, `{"sha256":"cd"}`)
	ending.Status.Phase = corev1.PodRunning
	complete := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}}
	failed := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Message: "backoff limit"}}}}
	cases := map[string]struct {
		job              *batchv1.Job
		pods             []corev1.Pod
		pod, cause, sums string
	}{
		"no pod":                         {failed, nil, "", "backoff limit", ""},
		"the result of the last attempt": {failed, []corev1.Pod{ended("a", 1, 1, `{"message":"first"}`), ended("b", 2, 1, `{"message":"second"}`)}, "b", "second", ""},
		"an attempt reported a result, the next waits": {&batchv1.Job{}, []corev1.Pod{waiting, ended("a", 1, 1, `{"message":"first"}`)}, "new", "first", ""},
		"it cannot start":              {&batchv1.Job{}, []corev1.Pod{waiting}, "new", "pod new: container action: image pull failed: no such image", ""},
		"a message that is none":       {failed, []corev1.Pod{ended("a", 1, 137, "Killed")}, "a", "pod a: container action: exited with code 137 (Error): Killed", ""},
		"done at the second attempt":   {complete, []corev1.Pod{ended("b", 2, 0, `{"sha256":"ab"}`), ended("a", 1, 1, `{"message":"first"}`)}, "b", "", "ab"},
		"about to be done":             {&batchv1.Job{}, []corev1.Pod{ending}, "new", "", "cd"},
		"done, and its pod is deleted": {complete, []corev1.Pod{ended("a", 1, 1, `{"message":"first"}`)}, "a", "pod a: container action: exited with code 1 (Error)", ""},
		"the deadline stopped the last attempt": {
			failed, []corev1.Pod{ended("a", 1, 11, `{"reason":"DestinationUnreachable","message":"first"}`), ended("b", 2, 11, `{"reason":"Interrupted","message":"second"}`)}, "b", "first", "",
		},
		"the deadline stopped the only attempt":  {failed, []corev1.Pod{ended("a", 1, 11, `{"reason":"Interrupted","message":"first"}`)}, "a", "backoff limit", ""},
		"the container before the main one said": {failed, []corev1.Pod{restored}, "new", "a piece is missing", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			task := Of(c.job, c.pods)
			sums := ""
			if task.Result != nil {
				sums = task.Result.SHA256
			}
			if task.Pod != c.pod || task.Cause() != c.cause || sums != c.sums {
				t.Errorf("pod %q, cause %q, sum %q", task.Pod, task.Cause(), sums)
			}
		})
	}
}

func TestATaskWhoseNewestPodHasNotStartedIsPending(t *testing.T) {
	waits := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "new", CreationTimestamp: metav1.NewTime(time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC))}}
	waits.Status.Phase = corev1.PodPending
	runs := *waits.DeepCopy()
	runs.Status.Phase = corev1.PodRunning
	for want, pods := range map[bool][]corev1.Pod{true: {ended("a", 1, 1, ""), waits}, false: {ended("a", 1, 1, ""), runs}} {
		if task := Of(&batchv1.Job{}, pods); task.Pending != want {
			t.Errorf("%+v", task)
		}
	}
}

func TestNoAttemptFollowsAnActionThatRefuses(t *testing.T) {
	for code, want := range map[int32]bool{0: false, 1: false, 11: false, 20: false, 30: true, 40: true} {
		for _, container := range []string{"action", "restore"} {
			pod := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, InitContainerStatuses: []corev1.ContainerStatus{{
				Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}},
			}}}}
			if got := Of(&batchv1.Job{}, []corev1.Pod{pod}).Final; got != want {
				t.Errorf("%s ended with %d: final %t", container, code, got)
			}
		}
	}
}

func TestAnAttemptOnALostNodeReportsItUntilItHasEnded(t *testing.T) {
	lost := func() *corev1.Pod {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: "worker-3"}}
		pod.DeletionTimestamp = &metav1.Time{}
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Message: "Taint manager: deleting due to NoExecute taint"}}
		return pod
	}
	const says = "is being evicted from node worker-3 (Taint manager: deleting due to NoExecute taint) and is still terminating; if the node is lost, delete its Node object"
	for name, c := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"its node does not answer":  {func(*corev1.Pod) {}, says},
		"another client deleted it": {func(p *corev1.Pod) { p.Status.Conditions = nil }, ""},
		"it is to be moved later":   {func(p *corev1.Pod) { p.DeletionTimestamp = nil }, ""},
		"it has failed":             {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, "failed"},
		"it has succeeded":          {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			pod := lost()
			c.change(pod)
			if got := AttemptOf(pod).Problem; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestTheResultOfARestoreRemainsBesideThatOfTheActionAfterIt(t *testing.T) {
	pod := ended("a", 1, 0, `{"output":{"role":"primary"}}`)
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "restore", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Message: `{"bytes":7}`},
	}}}
	complete := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}}}
	job := Of(complete, []corev1.Pod{pod})
	if job.Result == nil || string(job.Result.Output) != `{"role":"primary"}` || job.Restored == nil || job.Restored.Bytes != 7 {
		t.Errorf("got %+v and %+v", job.Result, job.Restored)
	}
	if job := Of(complete, []corev1.Pod{ended("a", 1, 0, `{"bytes":7}`)}); job.Restored != nil {
		t.Errorf("of an action alone: %+v", job.Restored)
	}
}
