/*
SPDX-License-Identifier: Apache-2.0
*/

package state

import (
	"encoding/json"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// Result is what a try said when it ended: the JSON that transfer writes as its container's termination message.
type Result struct {
	// Bytes of a restore are what the action has read, TotalBytes what the backup holds.
	Bytes       int64        `json:"bytes,omitempty"`
	TotalBytes  int64        `json:"totalBytes,omitempty"`
	StoredBytes int64        `json:"storedBytes,omitempty"`
	SHA256      string       `json:"sha256,omitempty"`
	Started     *metav1.Time `json:"started,omitempty"`
	Completed   *metav1.Time `json:"completed,omitempty"`
	// Reason is one of transfer's words for a failure, Message a sentence with the cause and what to do.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Output is what a probe printed.
	Output json.RawMessage `json:"output,omitempty"`
	// Check is what the engine's check printed around a backup; nil when it did not run, or does not apply.
	Check *Check `json:"check,omitempty"`
	// Facts are what it printed about the data of a restored copy.
	Facts Facts `json:"facts,omitempty"`
	// Unmet is true where the try ended because something is not as it has to be, which another try does not change.
	Unmet bool `json:"-"`
}

// Facts are strings, numbers and booleans about the data of a member, by their names.
type Facts map[string]json.RawMessage

// Check is what the engine's check printed before and after a backup, and how it failed.
type Check struct {
	Before  Facts  `json:"before,omitempty"`
	After   Facts  `json:"after,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// interrupted tells whether the try was stopped from outside, as by the Job's deadline.
func (r *Result) interrupted() bool { return r != nil && r.Reason == "Interrupted" }

// resultOf is what the containers of a Job's pod said, the last of them first; nil when none said anything that
// can be read.
func resultOf(pod *corev1.Pod) *Result {
	for _, container := range []string{naming.ActionContainer, naming.RestoreContainer} {
		for _, statuses := range [][]corev1.ContainerStatus{pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses} {
			if result := said(statuses, container); result != nil {
				return result
			}
		}
	}
	return nil
}

func said(statuses []corev1.ContainerStatus, container string) *Result {
	for _, s := range statuses {
		if s.Name != container || s.State.Terminated == nil || s.State.Terminated.Message == "" {
			continue
		}
		result := &Result{}
		if json.Unmarshal([]byte(s.State.Terminated.Message), result) == nil {
			result.Unmet = s.State.Terminated.ExitCode == ExitPrecondition
			return result
		}
	}
	return nil
}

// Progress is how far a transfer is.
type Progress struct {
	Bytes          int64   `json:"bytes"`
	StoredBytes    int64   `json:"storedBytes"`
	TotalBytes     int64   `json:"totalBytes"` // 0: not known
	BytesPerSecond float64 `json:"bytesPerSecond"`
}

// maxAnswer is how much is told of an answer, in characters.
const maxAnswer = 500

// ParseAnswer reads the last answer to a probe that a log tells; "" when it tells none.
func ParseAnswer(log string) (last string) {
	for line := range strings.Lines(log) {
		var entry struct {
			Msg  string `json:"msg"`
			Said string `json:"said"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "no answer" {
			last = entry.Said
		}
	}
	if runes := []rune(last); len(runes) > maxAnswer {
		return string(runes[:maxAnswer]) + " …"
	}
	return last
}

// ParseProgress reads the last progress that a log tells; ok is false when it tells none. The first line may be
// the rest of one.
func ParseProgress(log string) (last Progress, ok bool) {
	for line := range strings.Lines(log) {
		var entry struct {
			Msg string `json:"msg"`
			Progress
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "progress" {
			last, ok = entry.Progress, true
		}
	}
	return last, ok
}
