/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/archive"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

const (
	// maxFrameLine is the maximum length of the line of a frame.
	maxFrameLine = 256
	// maxFrameBytes is the maximum number of bytes after the line.
	maxFrameBytes = 4 << 20
)

// message is a frame of the archive action. Its fields that do not apply are zero.
type message struct {
	verb, file string
	offset     int64
	until      time.Time
	body       []byte
}

// frameReader reads frames.
type frameReader struct{ *bufio.Reader }

func newFrameReader(from io.Reader) frameReader {
	return frameReader{bufio.NewReaderSize(from, copyBytes)}
}

// next returns the next frame, or io.EOF.
func (f frameReader) next() (message, error) {
	read, err := f.ReadSlice('\n')
	line := string(read)
	switch {
	case err != nil && line == "":
		return message{}, err
	case err != nil || len(line) > maxFrameLine:
		return message{}, malformed(line)
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return message{}, malformed(line)
	}
	parsed, length, err := parseFrame(words[0], words[1:])
	if err != nil {
		return message{}, malformed(line)
	}
	parsed.body = make([]byte, length)
	if _, err := io.ReadFull(f, parsed.body); err != nil {
		return message{}, failf(protocol.ActionFailed, "The archive action ended within %q. See its log.", strings.TrimSpace(line))
	}
	return parsed, nil
}

// ahead reads frames in a goroutine of its own, until an error or until done is closed.
func (f frameReader) ahead(done <-chan struct{}) <-chan received {
	next := make(chan received)
	go func() {
		for err := error(nil); err == nil; {
			var m message
			m, err = f.next()
			select {
			case next <- received{m, err}:
			case <-done:
				return
			}
		}
	}()
	return next
}

// numbersOf are the numbers of a frame after the name of the file.
var numbersOf = map[string]func(m *message, length *int64) []*int64{
	protocol.FrameData: func(m *message, length *int64) []*int64 { return []*int64{&m.offset, length} },
	protocol.FramePut:  func(_ *message, length *int64) []*int64 { return []*int64{length} },
	protocol.FrameEnd:  onlyOffset,
	protocol.FrameFork: onlyOffset,
	protocol.FrameGap:  onlyOffset,
}

func onlyOffset(m *message, _ *int64) []*int64 { return []*int64{&m.offset} }

// parseFrame returns a frame without its bytes, and their number.
func parseFrame(verb string, words []string) (m message, length int64, err error) {
	m.verb = verb
	switch {
	case verb == protocol.FrameMark && len(words) == 1:
		m.until, err = time.Parse(time.RFC3339Nano, words[0])
		return m, 0, err
	case verb == protocol.FrameCut && len(words) == 0:
		return m, 0, nil
	}
	return parseFileFrame(m, words)
}

// parseFileFrame returns a frame about a file.
func parseFileFrame(m message, words []string) (_ message, length int64, err error) {
	shape, known := numbersOf[m.verb]
	if !known {
		return m, 0, errors.New("unknown")
	}
	numbers := shape(&m, &length)
	if len(words) != 1+len(numbers) || !archive.ValidFile(words[0]) {
		return m, 0, errors.New("want a file and numbers")
	}
	for i, number := range numbers {
		if *number, err = strconv.ParseInt(words[i+1], 10, 64); err != nil || *number < 0 {
			return m, 0, fmt.Errorf("%q is no offset or length", words[i+1])
		}
	}
	if m.file = words[0]; length > maxFrameBytes {
		return m, 0, errors.New("too long")
	}
	return m, length, nil
}

func malformed(line string) error {
	return failf(protocol.ActionFailed, "The archive action printed %q, which is not a frame. Correct the action in the engine.",
		strings.TrimSpace(line[:min(len(line), maxFrameLine)]))
}
