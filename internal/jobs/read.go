/*
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"context"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Logs reads information about Jobs and pods that is not in their status.
type Logs interface {
	// Tail is the end of the log of one container.
	Tail(ctx context.Context, namespace, pod, container string) (string, error)
	// Refusal is the reason why the newest pod of a Job could not be created; "" if it could.
	Refusal(ctx context.Context, namespace string, job types.UID) (string, error)
	// Unready is the newest message of the kubelet about a pod that is not ready; "" for none.
	Unready(ctx context.Context, namespace string, pod types.UID) (string, error)
}

// Observe reads the Job of an action and its pods; the list may have other pods. If a Job has no pod, its events
// may have the reason. If these cannot be read, only the explanation is missing.
func Observe(ctx context.Context, logs Logs, job *batchv1.Job, pods []corev1.Pod, at time.Time) Job {
	others := func(p corev1.Pod) bool { return p.Labels[batchv1.ControllerUidLabel] != string(job.UID) }
	observed := Of(job, slices.DeleteFunc(slices.Clone(pods), others))
	if logs == nil || !observed.Podless(at) {
		return observed
	}
	text, err := logs.Refusal(ctx, job.Namespace, job.UID)
	if err != nil {
		logf.FromContext(ctx).V(1).Info("cannot read why a Job has no pod", "job", job.Name, "cause", err.Error())
	}
	return observed.Refuse(text)
}

// writesLog reports whether the log of the newest pod is current.
func writesLog(job Job) bool { return job.Active && !job.Ended() && job.Pod != "" }

// ReadLogs adds progress or the answer of a copy from the logs of running Jobs that a function selects. The log is for users: the
// operator decides nothing by it. It may be unreadable, for example while a container is starting: then only the detail is missing.
func ReadLogs(ctx context.Context, logs Logs, namespace string, all []Job, selects func(Job) bool) {
	for i := range all {
		job := &all[i]
		if logs == nil || !writesLog(*job) || !selects(*job) {
			continue
		}
		text, err := logs.Tail(ctx, namespace, job.Pod, naming.ActionContainer)
		if err != nil {
			logf.FromContext(ctx).V(1).Info("cannot read the log of an action", "pod", job.Pod, "cause", err.Error())
		}
		*job = job.WithLog(text)
	}
}
