/*
SPDX-License-Identifier: Apache-2.0
*/

// Package merging brings the lines of several logs into one order.
package merging

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/text"
)

// Source is a container with a log.
type Source struct{ Pod, Container string }

// Log is the log of a container, each line with the time that the kubelet recorded.
type Log struct {
	Source
	Text string
}

// line is a line of a log.
type line struct {
	at     time.Time
	source Source
	text   string
}

// Merge is all lines in the order of their times. A line without a time follows the one before it.
func Merge(logs []Log, times bool, p text.Palette) string {
	var lines []line
	for _, log := range logs {
		last := time.Time{}
		for of := range strings.Lines(log.Text) {
			at, rest := Split(strings.TrimRight(of, "\n"))
			if at.IsZero() {
				at = last
			}
			lines, last = append(lines, line{at, log.Source, rest}), at
		}
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at.Compare(b.at) })
	var all strings.Builder
	for _, l := range lines {
		all.WriteString(l.source.Prefix(p))
		if times && !l.at.IsZero() {
			all.WriteString(l.at.UTC().Format(time.RFC3339Nano) + " ")
		}
		all.WriteString(l.text + "\n")
	}
	return all.String()
}

// Split separates the time that the kubelet recorded from a line. The time is zero if there is none.
func Split(of string) (time.Time, string) {
	stamp, rest, _ := strings.Cut(of, " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return time.Time{}, of
	}
	return at, rest
}

// Prefix names the container before a line.
func (s Source) Prefix(p text.Palette) string {
	return p.Paint("["+s.Pod+"/"+s.Container+"]", text.Heading) + " "
}

// Sources are the containers of pods that have started, by the name of the pod. Pods of Jobs are left out unless jobs is true. With
// previous, they are the containers that have been restarted. Only is the name of a container, or "" for all.
func Sources(pods []corev1.Pod, only string, jobs, previous bool) []Source {
	var all []Source
	for _, pod := range pods {
		if _, ofJob := pod.Labels["batch.kubernetes.io/job-name"]; ofJob && !jobs {
			continue
		}
		for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			started := c.State.Running != nil || c.State.Terminated != nil || c.LastTerminationState.Terminated != nil
			if previous {
				started = c.LastTerminationState.Terminated != nil
			}
			if started && (only == "" || only == c.Name) {
				all = append(all, Source{pod.Name, c.Name})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Source) int { return strings.Compare(a.Pod, b.Pod) })
	return all
}
