/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"encoding/json"
	"strings"
)

// Entry is a line in the log of transfer that the operator reads.
type Entry interface {
	// Log returns the message and the attributes as log/slog expects them.
	Log() (message string, attributes []any)
}

// The messages of the entries.
const (
	progressMessage = "progress"
	noAnswerMessage = "no answer"
)

// Progress is the progress of a call. It is for display only.
type Progress struct {
	Bytes           int64   `json:"bytes"`
	StoredBytes     int64   `json:"storedBytes"`
	TotalBytes      int64   `json:"totalBytes"` // 0: unknown
	BytesPerSecond  float64 `json:"bytesPerSecond"`
	PeakMemoryBytes int64   `json:"peakMemoryBytes"` // the peak of the resident memory; 0 until the call ends
}

// Log returns the progress as a log line.
func (p Progress) Log() (message string, attributes []any) {
	attributes = []any{"bytes", p.Bytes, "storedBytes", p.StoredBytes}
	if p.TotalBytes > 0 {
		attributes = append(attributes, "totalBytes", p.TotalBytes)
	}
	attributes = append(attributes, "bytesPerSecond", int64(p.BytesPerSecond))
	if p.PeakMemoryBytes > 0 {
		attributes = append(attributes, "peakMemoryBytes", p.PeakMemoryBytes)
	}
	return progressMessage, attributes
}

// NoAnswer is the reason why a database has not answered its probe yet.
type NoAnswer string

// Log returns the failure as a log line.
func (n NoAnswer) Log() (message string, attributes []any) {
	return noAnswerMessage, []any{"said", string(n)}
}

// ParseProgress reads the last progress in a log. ok is false if the log has none. The log may start in the middle of a
// line.
func ParseProgress(log string) (last Progress, ok bool) {
	for line := range strings.Lines(log) {
		var entry struct {
			Msg string `json:"msg"`
			Progress
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == progressMessage {
			last, ok = entry.Progress, true
		}
	}
	return last, ok
}

// maxAnswer is the maximum number of characters of an answer that ParseAnswer returns.
const maxAnswer = 500

// ParseAnswer reads the last answer to a probe in a log, or "".
func ParseAnswer(log string) (last string) {
	for line := range strings.Lines(log) {
		var entry struct {
			Msg  string `json:"msg"`
			Said string `json:"said"`
		}
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == noAnswerMessage {
			last = entry.Said
		}
	}
	if runes := []rune(last); len(runes) > maxAnswer {
		return string(runes[:maxAnswer]) + " …"
	}
	return last
}
