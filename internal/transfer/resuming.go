/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"errors"
	"io"
	"time"

	"gocloud.dev/blob"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// resumptions is the maximum number of consecutive failures to read an object without receiving a byte.
const resumptions = 5

// resumingReader reads an object and resumes after a lost connection, so that a restore of days does not start again.
type resumingReader struct {
	ctx     context.Context //nolint:containedctx // has the lifetime of the reader
	store   *store
	name    string
	patient idleTimeout

	current *blob.Reader
	offset  int64
	until   int64 // the offset of the end, or 0 for the end of the object
	failed  int
}

func (r *resumingReader) Read(buffer []byte) (n int, err error) {
	for {
		r.patient.during(r.store.silent(r.patient.limit), func() { n, err = r.once(buffer) })
		r.offset += int64(n)
		if n > 0 {
			r.failed = 0
			return n, nil // the next read returns the error again
		}
		if err == nil || errors.Is(err, io.EOF) {
			return 0, err
		}
		failure := r.store.failure("read", r.name, err)
		if r.failed++; r.failed > resumptions || storeReason(err) != protocol.DestinationUnreachable || r.ctx.Err() != nil {
			return 0, failure
		}
		_ = r.Close()                       // the connection is broken
		pause(r.ctx, time.Second<<r.failed) // longer after each failure
	}
}

func (r *resumingReader) once(buffer []byte) (n int, err error) {
	if r.current == nil {
		length := int64(-1)
		if r.until > 0 {
			length = r.until - r.offset
		}
		if r.current, err = r.store.bucket.NewRangeReader(r.ctx, r.name, r.offset, length, nil); err != nil {
			return 0, err
		}
	}
	return r.current.Read(buffer)
}

// Close ends the reading.
func (r *resumingReader) Close() error {
	if r.current == nil {
		return nil
	}
	err := r.current.Close()
	r.current = nil
	return err
}

// silent is the failure of an unresponsive store.
func (s *store) silent(limit time.Duration) *Error {
	return failf(protocol.DestinationUnreachable, "%s did not answer for %s. %s.", s.URL(""), limit, s.advice(protocol.DestinationUnreachable))
}
