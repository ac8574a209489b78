/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/dbcluster/databasecluster-operator/internal/jobs"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

func awaits(container, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

func hasEnded(container string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
}

func runsAs(container string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
}

func TestATaskHasStartedOnceAnActionOfItMayHaveRun(t *testing.T) {
	installed := []corev1.ContainerStatus{hasEnded("transfer")}
	ready := int32(1)
	cases := map[string]struct {
		job  batchv1.JobStatus
		pods []corev1.PodStatus
		want bool
	}{
		"there is no pod":                            {},
		"its pod has no node":                        {batchv1.JobStatus{Active: 1}, []corev1.PodStatus{{Phase: corev1.PodPending}}, false},
		"its image cannot be pulled":                 {batchv1.JobStatus{Active: 1}, []corev1.PodStatus{{Phase: corev1.PodPending, InitContainerStatuses: installed, ContainerStatuses: []corev1.ContainerStatus{awaits("action", "ErrImagePull")}}}, false},
		"its action runs":                            {batchv1.JobStatus{}, []corev1.PodStatus{{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{runsAs("action")}}}, true},
		"its copy is being restored":                 {batchv1.JobStatus{}, []corev1.PodStatus{{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{hasEnded("transfer"), runsAs("restore")}}}, true},
		"an earlier pod has failed":                  {batchv1.JobStatus{Active: 1}, []corev1.PodStatus{{Phase: corev1.PodFailed}, {Phase: corev1.PodPending}}, true},
		"what its pod does is not known":             {batchv1.JobStatus{}, []corev1.PodStatus{{Phase: corev1.PodUnknown}}, true},
		"it counts a pod that was not found":         {batchv1.JobStatus{Active: 1}, nil, true},
		"it counts a pod that has failed":            {batchv1.JobStatus{Failed: 1}, nil, true},
		"it counts a pod that is ready":              {batchv1.JobStatus{Ready: &ready}, nil, true},
		"it is about to count a pod that has failed": {batchv1.JobStatus{UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{Failed: []types.UID{"x"}}}, nil, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			pods := make([]corev1.Pod, len(c.pods))
			for i := range c.pods {
				pods[i].Status = c.pods[i]
			}
			if got := jobs.Of(&batchv1.Job{Status: c.job}, pods).Started; got != c.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestATaskIsUnmetUntilAnAttemptGetsFurther(t *testing.T) {
	ended := func(code int32) corev1.Pod {
		terminated := &corev1.ContainerStateTerminated{ExitCode: code, Message: `{"reason":"EncryptionKeyMissing","message":"add it"}`}
		return corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{
			{Name: "action", State: corev1.ContainerState{Terminated: terminated}},
		}}}
	}
	needs := jobs.Of(&batchv1.Job{}, []corev1.Pod{ended(int32(protocol.ExitPrecondition))})
	if !needs.Unmet(nil) || !needs.Unmet(&protocol.Progress{}) || needs.Unmet(&protocol.Progress{Bytes: 1}) {
		t.Errorf("%+v", needs)
	}
	if passes := jobs.Of(&batchv1.Job{}, []corev1.Pod{ended(int32(protocol.ExitTransient))}); passes.Unmet(nil) {
		t.Errorf("%+v", passes)
	}
	if needs.Failed = true; needs.Unmet(nil) {
		t.Error("a Job that has failed has a reason of its own")
	}
}

func TestAMemberThatCannotStartHasARemedy(t *testing.T) {
	unscheduled := corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
	noImage := func(container string) corev1.PodStatus {
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{awaits(container, "ErrImagePull")}}
	}
	asRoot := func(container string) corev1.PodStatus {
		status := awaits(container, "CreateContainerConfigError")
		status.State.Waiting.Message = "container has runAsNonRoot and image will run as root"
		return corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{status}}
	}
	noVolume := *unscheduled.DeepCopy()
	noVolume.Conditions[0].Message = "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims"
	crowded, kept, uneven := *unscheduled.DeepCopy(), *unscheduled.DeepCopy(), *unscheduled.DeepCopy()
	crowded.Conditions[0].Message = "0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules."
	kept.Conditions[0].Message = "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules."
	uneven.Conditions[0].Message = "0/2 nodes are available: 2 node(s) didn't match pod topology spread constraints."
	for want, status := range map[string]corev1.PodStatus{
		"Add a node for each member, or correct spec.scheduling.affinity.podAntiAffinity or spec.scheduling.spread.nodes of the DatabaseCluster, which keep its members on different nodes":                        crowded,
		"Add a node. If spec.scheduling.affinity of the DatabaseCluster keeps its members apart from all its pods, annotate the DatabaseCluster with database.dbcluster.io/update=1: the members then ignore Jobs": kept,
		"Add a node in another zone, or correct spec.scheduling of the DatabaseCluster: with spread.zones Required, no zone has more than one member above another":                                                uneven,
		"Correct spec.scheduling or spec.resources of the DatabaseCluster, or add a node":                                                                                                                          unscheduled,
		"Correct spec.image or spec.pod.imagePullSecrets of the DatabaseCluster":                                                                                                                                   noImage("database"),
		"Correct the image of this container or spec.pod.imagePullSecrets of the DatabaseCluster":                                                                                                                  noImage("exporter"),
		"Set spec.pod.securityContext.runAsUser of the DatabaseCluster to the number of a user other than 0":                                                                                                       asRoot("database"),
		"Set securityContext.runAsUser of this container of the DatabaseCluster to the number of a user other than 0":                                                                                              asRoot("exporter"),
		"See kubectl describe of the pod's PersistentVolumeClaim: it needs a StorageClass that provisions volumes, and the node of its volume":                                                                     noVolume,
		"": {ContainerStatuses: []corev1.ContainerStatus{hasEnded("database")}},
	} {
		if got := MemberOf(&corev1.Pod{Status: status}, 0).Remedy; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestABlockedTaskHasARemedy(t *testing.T) {
	cases := map[string]struct {
		status corev1.PodStatus
		want   string
	}{
		"no node":                    {corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}, "spec.scheduling"},
		"no image":                   {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{awaits("action", "ErrImagePull")}}, "Correct spec.image"},
		"still no image":             {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{awaits("action", "ImagePullBackOff")}}, "Correct spec.image"},
		"an image that is no name":   {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{awaits("action", "InvalidImageName")}}, "Correct spec.image"},
		"no image for the copy":      {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{awaits("restore", "ErrImagePull")}}, "Correct spec.image"},
		"no image of the operator's": {corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{awaits("transfer", "ErrImagePull")}}, "--transfer-image"},
		"no Secret":                  {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{awaits("action", "CreateContainerConfigError")}}, "this message names"},
		"it is only being created":   {corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{awaits("action", "ContainerCreating")}}, ""},
		"it crashes":                 {corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{hasEnded("database")}}, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			task := jobs.Of(&batchv1.Job{}, []corev1.Pod{{Status: c.status}})
			if !strings.Contains(task.Unblock(), c.want) || task.Blocked() != (c.want != "") {
				t.Errorf("%v: %q", task.Blocked(), task.Unblock())
			}
		})
	}
	ran := jobs.Job{Name: "j", Remedy: "Correct spec.image", Started: true}
	if ran.Unblock() != "Correct spec.image. Then delete Job j: it has run before, so the operator does not re-create it by itself" {
		t.Error(ran.Unblock())
	}
}

func TestAPodOutsideTheBoundsOfALimitRangeHasARemedy(t *testing.T) {
	const want = "Correct the LimitRange, or set spec.helpers.resources of the DatabaseCluster within its bounds"
	for _, bound := range []string{
		"minimum cpu usage per Container is 50m, but request is 10m", "maximum memory usage per Pod is 1Gi, but limit is 2Gi",
		"[minimum memory usage per Container is 64Mi, but request is 32Mi, maximum cpu usage per Container is 1, but limit is 2]",
		"cpu max limit to request ratio per Container is 4, but provided ratio is 20.000000",
	} {
		task := (jobs.Job{}).Refuse(`Error creating: pods "orders-a-b" is forbidden: ` + bound)
		if task.Remedy != want || task.Refusal != "forbidden: "+bound {
			t.Errorf("%q: %q", task.Refusal, task.Remedy)
		}
	}
}
