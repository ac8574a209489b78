/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"io"
	"sync"
)

// ahead reads a source in a goroutine of its own, at most aheadBuffers buffers before its consumer. Neither waits for
// the other while there are free and filled buffers.
type ahead struct {
	filled, free chan []byte // each has room for all buffers
	stop         func()
	stopped      chan struct{}
	end          error  // of the source; set before filled is closed
	current      []byte // the buffer that Read empties
	unread       []byte // the rest of current
}

// readAhead starts to read the source. A consumer that does not read to the end must call close.
func readAhead(source io.Reader) *ahead {
	a := &ahead{filled: make(chan []byte, aheadBuffers), free: make(chan []byte, aheadBuffers), stopped: make(chan struct{})}
	a.stop = sync.OnceFunc(func() { close(a.stopped) })
	for range aheadBuffers {
		a.free <- nil // empty allocates a buffer at its first use: a small stream needs only one
	}
	go a.fill(source)
	return a
}

// fill reads the source until it ends or close is called.
func (a *ahead) fill(source io.Reader) {
	defer close(a.filled)
	for a.end == nil {
		buffer, ok := a.empty()
		if !ok {
			a.end = io.ErrClosedPipe
			return
		}
		var n int
		n, a.end = source.Read(buffer)
		a.filled <- buffer[:n]
	}
}

// empty waits for a free buffer. It returns false after close, also if a buffer is free: the next read of the source may
// take long.
func (a *ahead) empty() (buffer []byte, ok bool) {
	select {
	case <-a.stopped:
	case buffer = <-a.free:
	}
	select {
	case <-a.stopped:
		return nil, false
	default:
	}
	if buffer == nil {
		buffer = make([]byte, copyBytes)
	}
	return buffer[:copyBytes], true
}

// WriteTo writes everything that it reads. io.Copy uses it.
func (a *ahead) WriteTo(into io.Writer) (written int64, err error) {
	for buffer := range a.filled {
		n, err := into.Write(buffer)
		written += int64(n)
		if err != nil {
			return written, err
		}
		a.free <- buffer
	}
	if !errors.Is(a.end, io.EOF) {
		err = a.end
	}
	return written, err
}

func (a *ahead) Read(buffer []byte) (int, error) {
	for len(a.unread) == 0 {
		if a.current != nil {
			a.free <- a.current
		}
		var more bool
		if a.current, more = <-a.filled; !more {
			return 0, a.end
		}
		a.unread = a.current
	}
	n := copy(buffer, a.unread)
	a.unread = a.unread[n:]
	return n, nil
}

// close returns once the goroutine no longer reads the source. It does not interrupt a read.
func (a *ahead) close() {
	a.stop()
	for range a.filled {
		continue // the rest is not needed
	}
}
