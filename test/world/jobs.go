/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// runJobs is the Job controller, for restartPolicy Never and podReplacementPolicy Failed.
func (w *World) runJobs() {
	for _, job := range store.All[*batchv1.Job](w.Store) {
		switch {
		case w.delays(), job.DeletionTimestamp != nil:
		case jobEnded(job):
			w.expire(job)
		default:
			w.runJob(job)
		}
	}
}

func jobEnded(job *batchv1.Job) bool {
	return JobIs(job, batchv1.JobComplete) || JobIs(job, batchv1.JobFailed)
}

// JobIs reports whether a Job has a condition.
func JobIs(job *batchv1.Job, kind batchv1.JobConditionType) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind })
}

// expire removes a Job some time after it ended.
func (w *World) expire(job *batchv1.Job) {
	seconds := job.Spec.TTLSecondsAfterFinished
	ended := job.Status.Conditions[len(job.Status.Conditions)-1].LastTransitionTime
	if seconds == nil || w.Clock.Now().Before(ended.Add(time.Duration(*seconds)*time.Second)) {
		return
	}
	w.Store.Remove(job)
	w.journal.add(w.by, fmt.Sprintf("removes Job %s, which ended long ago", job.Name))
}

func (w *World) runJob(job *batchv1.Job) {
	if job.Status.StartTime == nil {
		job.Status.StartTime = new(metav1.NewTime(w.Clock.Now()))
	}
	pods := w.podsOfJob(job)
	active := slices.DeleteFunc(slices.Clone(pods), HasEnded)
	job.Status.Active = int32(len(active))
	switch overdue, verdict := w.overdue(job), w.judge(job, pods); {
	case JobIs(job, batchv1.JobFailureTarget):
		w.endJob(job, active)
	case verdict != nil:
		w.conclude(job, *verdict)
	case overdue:
		w.conclude(job, failing("DeadlineExceeded", "Job was active longer than specified deadline"))
	case len(active) == 0 && !w.backsOff(pods):
		w.createAttempt(job, pods)
	default:
		w.Store.Put(job)
	}
}

// backsOff reports whether a Job with these failed pods waits before its next attempt.
func (w *World) backsOff(pods []*corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		return w.Clock.Now().Before(pod.CreationTimestamp.Add(w.disk.backOff))
	})
}

func (w *World) podsOfJob(job *batchv1.Job) []*corev1.Pod {
	return slices.DeleteFunc(store.All[*corev1.Pod](w.Store), func(pod *corev1.Pod) bool { return !metav1.IsControlledBy(pod, job) })
}

func (w *World) overdue(job *batchv1.Job) bool {
	seconds := job.Spec.ActiveDeadlineSeconds
	return seconds != nil && !w.Clock.Now().Before(job.Status.StartTime.Add(time.Duration(*seconds)*time.Second))
}

func failing(reason, message string) batchv1.JobCondition {
	return batchv1.JobCondition{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: reason, Message: message}
}

// judge returns the condition of a Job from its ended pods; nil if the Job continues.
func (w *World) judge(job *batchv1.Job, pods []*corev1.Pod) *batchv1.JobCondition {
	failures := int32(0)
	for _, pod := range pods {
		switch pod.Status.Phase {
		case corev1.PodSucceeded:
			return &batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}
		case corev1.PodFailed:
			container, code := exitOf(pod)
			switch policyOn(job, container, code) {
			case batchv1.PodFailurePolicyActionFailJob:
				return new(
					failing(batchv1.JobReasonPodFailurePolicy,
						fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d", container, pod.Namespace, pod.Name, code)))
			case batchv1.PodFailurePolicyActionIgnore:
			case batchv1.PodFailurePolicyActionCount, batchv1.PodFailurePolicyActionFailIndex:
				failures++
			}
		case corev1.PodPending, corev1.PodRunning, corev1.PodUnknown:
		}
	}
	if failures > *job.Spec.BackoffLimit {
		return new(failing(batchv1.JobReasonBackoffLimitExceeded, "Job has reached the specified backoff limit"))
	}
	return nil
}

// exitOf returns the failed container of a pod and its exit code.
func exitOf(pod *corev1.Pod) (container string, code int32) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.State.Terminated != nil && s.State.Terminated.ExitCode != 0 {
			return s.Name, s.State.Terminated.ExitCode
		}
	}
	return "", 0
}

// policyOn returns the action of the podFailurePolicy for an exit code; 0 is for a disrupted pod.
func policyOn(job *batchv1.Job, container string, code int32) batchv1.PodFailurePolicyAction {
	if job.Spec.PodFailurePolicy == nil {
		return batchv1.PodFailurePolicyActionCount
	}
	for _, rule := range job.Spec.PodFailurePolicy.Rules {
		on := rule.OnExitCodes
		switch {
		case on == nil && code == 0,
			on != nil && code != 0 && *on.ContainerName == container && slices.Contains(on.Values, code):
			return rule.Action
		}
	}
	return batchv1.PodFailurePolicyActionCount
}

// conclude records the end of a Job. A Job fails only after its pods have ended.
func (w *World) conclude(job *batchv1.Job, condition batchv1.JobCondition) {
	condition.LastTransitionTime = metav1.NewTime(w.Clock.Now())
	job.Status.Conditions = append(job.Status.Conditions, condition)
	if condition.Type == batchv1.JobComplete {
		job.Status.CompletionTime, job.Status.Active = new(metav1.NewTime(w.Clock.Now())), 0
		w.disk.succeeded[job.Name] = true
		w.journal.add(w.by, fmt.Sprintf("Job %s: Complete", job.Name))
	}
	w.Store.Put(job)
}

func (w *World) endJob(job *batchv1.Job, active []*corev1.Pod) {
	for _, pod := range active {
		if pod.DeletionTimestamp == nil {
			w.journal.add(w.by, fmt.Sprintf("stops pod %s", pod.Name))
			w.end(pod)
		}
	}
	if len(active) > 0 {
		return
	}
	target := job.Status.Conditions[len(job.Status.Conditions)-1]
	target.Type = batchv1.JobFailed
	w.journal.add(w.by, fmt.Sprintf("Job %s: Failed, %s", job.Name, target.Reason))
	w.conclude(job, target)
}

// createAttempt creates the next pod of a Job.
func (w *World) createAttempt(job *batchv1.Job, pods []*corev1.Pod) {
	if w.Store.Terminating == job.Namespace {
		return
	}
	if w.overQuota(&job.Spec.Template.Spec) {
		if w.Store.Put(job) {
			w.journal.add(w.by, fmt.Sprintf("cannot create a pod of Job %s: exceeded quota", job.Name))
		}
		return
	}
	number := len(pods)
	for store.Get[*corev1.Pod](w.Store, fmt.Sprintf("%s.%d", job.Name, number)) != nil {
		number++
	}
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Namespace, pod.Name = job.Namespace, fmt.Sprintf("%s.%d", job.Name, number)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.ControllerUidLabel, string(job.UID))
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobNameLabel, job.Name)
	job.Status.Active = 1
	w.Store.Put(job)
	w.Store.Put(pod)
	w.journal.add(w.by, "creates pod "+pod.Name)
	w.createEphemeralClaims(pod)
}

// overQuota reports whether the quota refuses a pod.
func (w *World) overQuota(pod *corev1.PodSpec) bool {
	return w.disk.quota > 0 && pod.Containers[0].Resources.Limits.Cpu().Value() > w.disk.quota
}

// createEphemeralClaims creates the claims that are garbage-collected with a pod.
func (w *World) createEphemeralClaims(pod *corev1.Pod) {
	for _, v := range pod.Spec.Volumes {
		if v.Ephemeral == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: w.Meta(claimName(pod, v)), Spec: *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy()}
		claim.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
		w.Store.Put(claim)
		w.journal.add(w.by, fmt.Sprintf("creates claim %s of %s", claim.Name, claim.Spec.Resources.Requests.Storage()))
	}
}

// endNamespace deletes the objects in a terminating namespace, one after the other.
func (w *World) endNamespace() {
	if w.Store.Terminating == "" {
		return
	}
	for _, o := range w.Store.Sorted() {
		if o.GetNamespace() == w.Store.Terminating && o.GetDeletionTimestamp() == nil && !w.delays() {
			w.journal.add(w.by, "deletes "+store.Ref(o))
			w.Delete(o)
			return
		}
	}
}
