/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

func waiting(reason, message string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "database", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
	}}
}

func TestTheProblemOfAPodNamesTheCauseWithoutTimesOrCounters(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 127, Reason: "Error"}}
	waits := waiting("CrashLoopBackOff", "back-off 2m40s restarting failed container")
	waits.LastTerminationState = ended
	runsAgain := corev1.ContainerStatus{Name: "database", LastTerminationState: ended, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	initialized := corev1.ContainerStatus{Name: "prepare", LastTerminationState: ended, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	containers := func(statuses ...corev1.ContainerStatus) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: statuses}
	}
	unscheduled := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message},
		}}
	}
	const exits, noImage = "container database: exited with code 127 (Error); see kubectl logs orders-2 -c database --previous", "container database: image pull failed: not found"
	const noCommand = `container database: cannot be started: exec: "no-such-command": not found`
	unstarted := corev1.ContainerStatus{Name: "database", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 128, Reason: "StartError", Message: `exec: "no-such-command": not found`,
	}}}
	cases := map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"no such command":                   {containers(waiting("RunContainerError", `exec: "no-such-command": not found`)), noCommand},
		"the next attempt at that":          {containers(unstarted), noCommand},
		"a pod that runs":                   {corev1.PodStatus{Phase: corev1.PodRunning}, ""},
		"a pod that starts":                 {containers(waiting("ContainerCreating", "")), ""},
		"an image not there":                {containers(waiting("ErrImagePull", "not found")), noImage},
		"the next attempt at it":            {containers(waiting("ImagePullBackOff", `Back-off pulling image "x": ErrImagePull: not found`)), noImage},
		"a missing Secret":                  {containers(waiting("CreateContainerConfigError", `secret "x" not found`)), `container database: CreateContainerConfigError: secret "x" not found`},
		"a crash":                           {containers(corev1.ContainerStatus{Name: "database", State: ended}), exits},
		"waiting after a crash":             {containers(waits), exits},
		"running again after a crash":       {containers(runsAgain), exits},
		"an init container that has ended":  {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{initialized}}, ""},
		"an init container without image":   {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{waiting("ErrImagePull", "not found")}}, noImage},
		"an init container that has failed": {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{{Name: "database", State: ended}}}, exits},
		"no node": {
			unscheduled(corev1.PodReasonUnschedulable, "0/1 nodes are available"), "cannot be scheduled: 0/1 nodes are available",
		},
		"an error of the scheduler":         {unscheduled(corev1.PodReasonSchedulerError, "the object has been modified"), ""},
		"a claim that was created just now": {unscheduled(corev1.PodReasonUnschedulable, `persistentvolumeclaim "data-a-0" not found`), ""},
		"a pod that ended":                  {corev1.PodStatus{Phase: corev1.PodFailed}, "failed"},
		"an evicted pod":                    {corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"}, "failed: Evicted"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := MemberOf(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orders-2"}, Status: c.status}, 0).Problem; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAMemberThatCrashedCountsOnlyAfterItStaysReady(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		member                  Member
		serving, steady, broken bool
	}{
		"ready for long":                    {Member{Ready: true, ReadySince: metav1.NewTime(now.Add(-time.Hour))}, true, true, false},
		"ready for a moment":                {Member{Ready: true, ReadySince: metav1.NewTime(now.Add(-time.Second))}, true, false, false},
		"between two crashes":               {Member{Ready: true, ReadySince: metav1.NewTime(now.Add(-time.Second)), Problem: "exited"}, false, false, true},
		"recovered from a crash":            {Member{Ready: true, ReadySince: metav1.NewTime(now.Add(-time.Hour)), Problem: "exited"}, true, true, false},
		"not ready":                         {Member{ReadySince: metav1.NewTime(now.Add(-time.Hour))}, false, false, false},
		"not ready, and it is known why":    {Member{Problem: "no image"}, false, false, true},
		"on its way out":                    {Member{Ready: true, ReadySince: metav1.NewTime(now.Add(-time.Hour)), Terminating: true}, false, false, false},
		"on its way out after it had ended": {Member{Terminating: true, Problem: "failed"}, false, false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.member.Serving(now) != c.serving || c.member.Steady(now, Steadily) != c.steady || c.member.Broken(now) != c.broken {
				t.Errorf("serving %v, steady %v, broken %v", c.member.Serving(now), c.member.Steady(now, Steadily), c.member.Broken(now))
			}
		})
	}
}

func TestAMemberOfUnknownRevisionIsNotOutdated(t *testing.T) {
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

func TestAMemberThatWasResizedInPlaceIsNotOutdated(t *testing.T) {
	set := &appsv1.StatefulSet{Status: appsv1.StatefulSetStatus{UpdateRevision: "new"}}
	set.Spec.Template.Annotations = map[string]string{dbv1.AnnotationTemplate: "t"}
	wanted := corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "database", Resources: wanted}}
	given := resourcesText(corev1.ResourceRequirements{ // with the defaults of the API server
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2000m")},
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
	})
	cases := map[string]struct {
		member   Member
		outdated bool
	}{
		"it has them":                            {Member{Revision: "old", Template: "t", Resources: given}, false},
		"it is being given them":                 {Member{Revision: "old", Template: "t", Resources: given, Resize: PodResize{Pending: true}}, false},
		"its node does not have them":            {Member{Revision: "old", Template: "t", Resources: given, Resize: PodResize{Pending: true, Infeasible: true}}, true},
		"it has others":                          {Member{Revision: "old", Template: "t", Resources: resourcesText(corev1.ResourceRequirements{})}, true},
		"it differs in more than that":           {Member{Revision: "old", Template: "s", Resources: given}, true},
		"it was created before there was a hash": {Member{Revision: "old", Resources: given}, true},
		"it has the revision, whatever it has":   {Member{Revision: "new"}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := len((Observed{StatefulSet: set, Members: []Member{c.member}}).Outdated()) > 0; got != c.outdated {
				t.Errorf("outdated is %v", got)
			}
		})
	}
}

func TestTheProgressOfAResizeComesFromTheKubelet(t *testing.T) {
	cpu := func(amount string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(amount)}}
	}
	has := func(amount string) []corev1.ContainerStatus {
		r := cpu(amount)
		return []corev1.ContainerStatus{{Name: "database", Resources: &r}}
	}
	said := func(kind corev1.PodConditionType, reason, message string) []corev1.PodCondition {
		return []corev1.PodCondition{{Type: kind, Status: corev1.ConditionTrue, Reason: reason, Message: message}}
	}
	cases := map[string]struct {
		status corev1.PodStatus
		want   PodResize
	}{
		"done":                           {corev1.PodStatus{ContainerStatuses: has("2"), ObservedGeneration: 2}, PodResize{}},
		"done, with an old condition":    {corev1.PodStatus{ContainerStatuses: has("2"), Conditions: said(corev1.PodResizeInProgress, "Error", "x")}, PodResize{}},
		"not seen":                       {corev1.PodStatus{ContainerStatuses: has("1"), ObservedGeneration: 1}, PodResize{Unseen: true}},
		"not seen, an older kubelet":     {corev1.PodStatus{ContainerStatuses: has("1")}, PodResize{Unseen: true}},
		"a kubelet that reports nothing": {corev1.PodStatus{}, PodResize{}},
		"deferred": {
			corev1.PodStatus{ContainerStatuses: has("1"), ObservedGeneration: 2, Conditions: said(corev1.PodResizePending, "Deferred", "no room yet")},
			PodResize{Pending: true, Message: "Deferred: no room yet"},
		},
		"infeasible": {
			corev1.PodStatus{ContainerStatuses: has("1"), ObservedGeneration: 2, Conditions: said(corev1.PodResizePending, "Infeasible", "no room")},
			PodResize{Pending: true, Infeasible: true, Message: "Infeasible: no room"},
		},
		"not possible while it runs": {
			corev1.PodStatus{ContainerStatuses: has("1"), ObservedGeneration: 2, Conditions: said(corev1.PodResizeInProgress, "Error", "below current usage")},
			PodResize{Pending: true, Infeasible: true, Message: "in progress: below current usage"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Status: c.status}
			pod.Spec.Containers = []corev1.Container{{Name: "database", Resources: cpu("2")}}
			if got := MemberOf(pod, 0).Resize; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
