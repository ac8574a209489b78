/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

const (
	maxLineBytes = 1 << 10
	keptLines    = 10
)

// lines logs the output of an action line by line. It keeps the last lines for the message of a failure.
type lines struct {
	log *slog.Logger
	// hide takes secrets out of a line; nil if the action knows none that transfer knows.
	hide   func(string) string
	mutex  sync.Mutex
	unsaid []byte
	last   []string
}

func (l *lines) Write(data []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for part := range bytes.SplitAfterSeq(data, []byte("\n")) {
		room := maxLineBytes - len(l.unsaid) // longer lines are truncated
		l.unsaid = append(l.unsaid, part[:min(len(part), room)]...)
		if bytes.HasSuffix(part, []byte("\n")) {
			l.say()
		}
	}
	return len(data), nil
}

func (l *lines) say() {
	line := strings.TrimSpace(strings.ToValidUTF8(string(l.unsaid), "?"))
	l.unsaid = l.unsaid[:0]
	if line == "" {
		return
	}
	if l.hide != nil {
		line = l.hide(line)
	}
	l.log.Info("action", "line", line)
	l.last = append(l.last, line)
	l.last = l.last[max(0, len(l.last)-keptLines):]
}

// newest returns the last line.
func (l *lines) newest() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if len(l.last) == 0 {
		return ""
	}
	return l.last[len(l.last)-1]
}

// tail returns the last lines.
func (l *lines) tail() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.say()
	return strings.Join(l.last, " | ")
}
