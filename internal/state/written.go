/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// The API server records when an object was written, and the kubelet when a container ended. Their clocks may differ, so the operator
// compares no time of one with a time of the other.

// WrittenAt returns the second in which a client last wrote an object, by the clock of the API server; zero if that is unknown.
func WrittenAt(object metav1.Object) time.Time {
	var last time.Time
	for _, entry := range object.GetManagedFields() {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// endsAfter returns a time before the end of a pod's action, by the clock of the API server; zero if that is unknown. The API server records
// the creation of the pod, and the kubelet measures by its own clock how long it had the pod. Both drop fractions of seconds, which may make
// the difference one second too long.
func endsAfter(pod *corev1.Pod) time.Time {
	for _, s := range pod.Status.ContainerStatuses {
		end := s.State.Terminated
		if s.Name != naming.ActionContainer || end == nil || end.FinishedAt.IsZero() || pod.Status.StartTime == nil {
			continue
		}
		return pod.CreationTimestamp.Add(end.FinishedAt.Sub(pod.Status.StartTime.Time) - time.Second)
	}
	return time.Time{}
}
