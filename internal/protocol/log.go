/*
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"encoding/json"
	"strings"
)

// Entry is a line of the log of transfer that the operator reads.
type Entry interface {
	// Log returns the message and the attributes, as log/slog takes them.
	Log() (message string, attributes []any)
}

// The messages of the entries.
const (
	progressMessage = "progress"
	noAnswerMessage = "no answer"
)

// Progress is how far a call is. Nothing is decided by it.
type Progress struct {
	Bytes           int64   `json:"bytes"`
	StoredBytes     int64   `json:"storedBytes"`
	TotalBytes      int64   `json:"totalBytes"` // 0: not known
	BytesPerSecond  float64 `json:"bytesPerSecond"`
	PeakMemoryBytes int64   `json:"peakMemoryBytes"` // the most resident memory; 0 until the call ends
}

// Log returns the progress as a line of the log.
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

// NoAnswer is why a database has not answered its probe yet.
type NoAnswer string

// Log returns the failure as a line of the log.
func (n NoAnswer) Log() (message string, attributes []any) {
	return noAnswerMessage, []any{"said", string(n)}
}

// ParseProgress reads the last progress that a log tells; ok is false when it tells none. The first line may be
// the rest of one.
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

// maxAnswer is how much is told of an answer, in characters.
const maxAnswer = 500

// ParseAnswer reads the last answer to a probe that a log tells; "" when it tells none.
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
