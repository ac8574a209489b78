/*
SPDX-License-Identifier: Apache-2.0
*/

// Package logs reads the end of a container's log, and the events of a Job that has no pod. It shows users the
// progress of a Job. The operator decides nothing by it.
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
	// lines is enough to include a progress line among the other output of an action. It is small, because the byte
	// limit would otherwise cut the last line.
	lines int64 = 20
	// limit is the highest number of bytes read from a log.
	limit int64 = 64 << 10
	// kubeletTimeout is how long a kubelet may take to respond.
	kubeletTimeout = 3 * time.Second
)

// Reader reads logs and events.
type Reader struct {
	Pods   corev1client.PodsGetter
	Events corev1client.EventsGetter
}

// +kubebuilder:rbac:groups="",resources=pods/log,verbs=get

// Tail is the end of a container's log. A longer text is cut at the end, as by the API server.
func (r Reader) Tail(ctx context.Context, namespace, pod, container string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, kubeletTimeout)
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
