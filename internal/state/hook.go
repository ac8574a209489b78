/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Hook is what the operator uses of the Job of a deletion hook, and all that it uses.
type Hook struct {
	Job string
	// Ending tells that the Job is being deleted; it counts no more, but its name is not free yet.
	Ending    bool
	Succeeded bool
	Failed    bool
	// Failure is why it failed, in the Job controller's words.
	Failure string
}

// HookOf reads a Hook from its Job.
func HookOf(job *batchv1.Job) Hook {
	h := Hook{Job: job.Name, Ending: job.DeletionTimestamp != nil}
	for _, c := range job.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Type {
		case batchv1.JobComplete:
			h.Succeeded = true
		case batchv1.JobFailed:
			h.Failed, h.Failure = true, c.Message
		default: // suspended, or on the way to one of the two above
		}
	}
	return h
}
