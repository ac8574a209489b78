/*
SPDX-License-Identifier: Apache-2.0
*/

// Package logs reads the end of a container's log, and what Kubernetes says of a Job that has no pod. Nothing is decided by
// it: it tells people how far a Job is.
package logs

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

const (
	// lines are enough for one of progress among what an action says meanwhile. Few: the limit would else cut the last.
	lines int64 = 20
	// limit is how much of a log is read at most, in bytes.
	limit int64 = 64 << 10
	// patience is how long a kubelet may take to answer.
	patience = 3 * time.Second
)

// Reader reads logs and events.
type Reader struct {
	Pods   corev1client.PodsGetter
	Events corev1client.EventsGetter
}

// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get

// Tail is the end of a container's log. One longer than the limit is cut at its end, as the API server does.
func (r Reader) Tail(ctx context.Context, namespace, pod, container string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tail, most := lines, limit
	options := &corev1.PodLogOptions{Container: container, TailLines: &tail, LimitBytes: &most}
	stream, err := r.Pods.Pods(namespace).GetLogs(pod, options).Stream(ctx)
	if err != nil {
		return "", fmt.Errorf("read the log of pod %s: %w", pod, err)
	}
	defer stream.Close()
	text, err := io.ReadAll(io.LimitReader(stream, limit))
	if err != nil {
		return "", fmt.Errorf("read the log of pod %s: %w", pod, err)
	}
	return string(text), nil
}
