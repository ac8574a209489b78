/*
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Reasons of events of the Job controller about the pods of a Job.
const (
	podRefused = "FailedCreate"
	podCreated = "SuccessfulCreate"
)

// +kubebuilder:rbac:groups="",resources=events,verbs=list

// Refusal is the Job controller's message why it could not create the newest pod of a Job; "" if it could, or has
// no event. No field of the Job has that message.
func (r Reader) Refusal(ctx context.Context, namespace string, job types.UID) (string, error) {
	newest, err := r.newest(ctx, namespace, job, podRefused, podCreated)
	if err != nil || newest.Reason != podRefused {
		return "", err
	}
	return newest.Message, nil
}

// newest is the last reported event of an object that has one of these reasons; an empty one if there is none.
func (r Reader) newest(ctx context.Context, namespace string, object types.UID, reasons ...string) (newest corev1.Event, err error) {
	ctx, cancel := context.WithTimeout(ctx, kubeletTimeout)
	defer cancel()
	list, err := r.Events.Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(object)})
	if err != nil {
		return newest, fmt.Errorf("read the events of the object with UID %s: %w", object, err)
	}
	for _, event := range list.Items {
		if slices.Contains(reasons, event.Reason) && !last(event).Before(last(newest)) {
			newest = event
		}
	}
	return newest, nil
}

// last is when an event was last reported. Events of the older and the newer API record that in different fields.
func last(event corev1.Event) time.Time {
	newest := event.LastTimestamp.Time
	for _, at := range []time.Time{event.EventTime.Time, event.CreationTimestamp.Time} {
		if at.After(newest) {
			newest = at
		}
	}
	if series := event.Series; series != nil && series.LastObservedTime.After(newest) {
		newest = series.LastObservedTime.Time
	}
	return newest
}
