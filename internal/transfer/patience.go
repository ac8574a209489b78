/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"io"
	"time"
)

// idleTimeout ends a transfer when the other side makes no progress for too long.
type idleTimeout struct {
	limit time.Duration
	end   context.CancelCauseFunc
}

// during calls step, and ends the transfer with the reason if step takes too long.
func (p idleTimeout) during(reason *Error, step func()) {
	defer time.AfterFunc(p.limit, func() { p.end(reason) }).Stop()
	step()
}

// reader returns the source with a time limit for each read.
func (p idleTimeout) reader(source io.Reader, reason *Error) io.Reader {
	return readerFunc(func(buffer []byte) (n int, err error) {
		p.during(reason, func() { n, err = source.Read(buffer) })
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(buffer []byte) (int, error) { return f(buffer) }

// pause waits until the delay or the context ends.
func pause(ctx context.Context, length time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
}
