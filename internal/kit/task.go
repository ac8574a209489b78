/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
	"github.com/dbcluster/databasecluster-operator/internal/resources"
	"github.com/dbcluster/databasecluster-operator/internal/state"
)

// Task observes the Job of an action and its pods; the list may have other pods. If a Job has no pod, its events
// may have the reason. If these cannot be read, only the explanation is missing.
func Task(ctx context.Context, logs Logs, job *batchv1.Job, pods []corev1.Pod, at time.Time) state.Task {
	others := func(p corev1.Pod) bool { return p.Labels[batchv1.ControllerUidLabel] != string(job.UID) }
	task := state.TaskOf(job, slices.DeleteFunc(slices.Clone(pods), others))
	if logs == nil || !task.Podless(at) {
		return task
	}
	text, err := logs.Refusal(ctx, job.Namespace, job.UID)
	if err != nil {
		logf.FromContext(ctx).V(1).Info("cannot read why a Job has no pod", "job", job.Name, "cause", err.Error())
	}
	return task.Refuse(text)
}

// hasCurrentLog reports whether the log of the newest pod is current. The log of a copy is read even if another container
// has a problem.
func hasCurrentLog(task state.Task) bool {
	if !task.Active || task.Ended() || task.Pod == "" {
		return false
	}
	switch resources.ActionKindOf(task.Component).Log {
	case resources.LogProgress:
		return task.Problem == ""
	case resources.LogAnswer:
		return task.Started
	case resources.LogRestore:
		return true
	case resources.LogIgnored:
	}
	return false
}

// ReadLogs adds progress or the answer of a copy from the logs of running tasks. A log may be unreadable, for example
// while a container is starting: then only the detail is missing.
func ReadLogs(ctx context.Context, logs Logs, namespace string, tasks []state.Task) {
	for i := range tasks {
		task := &tasks[i]
		if logs == nil || !hasCurrentLog(*task) {
			continue
		}
		text, err := logs.Tail(ctx, namespace, task.Pod, naming.ActionContainer)
		if err != nil {
			logf.FromContext(ctx).V(1).Info("cannot read the log of an action", "pod", task.Pod, "cause", err.Error())
		}
		*task = task.WithLog(text)
	}
}
