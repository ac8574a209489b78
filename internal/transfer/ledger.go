/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/internal/reuse"
)

// ledger records where the data of a stream is: in its own pieces, or in streams of earlier backups. A nil ledger records nothing, and all
// data is in the pieces.
type ledger struct {
	stream  *protocol.Stream
	earlier *earlier // nil if there is nothing to refer to
	objects []*record
	index   *reuse.IndexWriter
	order   *reuse.OrderWriter // nil without earlier streams
	written int64              // the bytes of the data that are in the pieces
}

// smallPartBytes is the size of the parts of an index and an order: the minimum of S3.
const smallPartBytes = 5 << 20

// record is an object that grows with the data.
type record struct {
	*bufio.Writer
	encrypted io.Closer
	cutter    *cutter
}

// openLedger starts the objects of a stream. They are encrypted as the pieces are.
func (r *backupRun) openLedger(ctx context.Context, store *store, stream *protocol.Stream, patient idleTimeout) (*ledger, error) {
	if !r.Index {
		return nil, nil //nolint:nilnil // see ledger
	}
	earlier, err := r.lookBack(ctx, store, stream, patient)
	if err != nil {
		return nil, err
	}
	l := &ledger{stream: stream, earlier: earlier}
	index, err := l.record(ctx, r.keys, store, stream.IndexName(), patient)
	if err != nil {
		return l, err
	}
	l.index = reuse.NewIndexWriter(index)
	if earlier == nil {
		return l, nil
	}
	order, err := l.record(ctx, r.keys, store, stream.OrderName(), patient)
	if err != nil {
		return l, err
	}
	l.order = reuse.NewOrderWriter(order)
	return l, nil
}

func (l *ledger) record(ctx context.Context, keys keys, store *store, name string, patient idleTimeout) (*record, error) {
	one := &cutter{
		ctx: ctx, store: store, name: func(int) string { return name }, size: math.MaxInt64, patient: patient, stored: &counter{},
		uploads: 1, partBytes: smallPartBytes,
	}
	encrypted, err := keys.encrypt(one)
	if err != nil {
		return nil, fmt.Errorf("create the encryptor: %w", err)
	}
	record := &record{bufio.NewWriterSize(encrypted, copyBytes), encrypted, one}
	l.objects = append(l.objects, record)
	return record, nil
}

// sift returns a reader of the data that no earlier stream has. done must be called when it is no longer read.
func (l *ledger) sift(data io.Reader) (fresh io.Reader, done func(), err error) {
	if l == nil {
		return data, func() {}, nil
	}
	source := readAhead(data)
	cutter, err := reuse.Cut(source)
	return &sieve{ledger: l, cutter: cutter}, source.stop, err
}

// sieve reads data in chunks.
type sieve struct {
	*ledger
	cutter reuse.Cutter
	unread []byte
}

func (s *sieve) Read(buffer []byte) (int, error) {
	for len(s.unread) == 0 {
		content, err := s.cutter.Next()
		if err != nil {
			return 0, err
		}
		is, err := s.has(reuse.Of(content))
		if err != nil {
			return 0, err
		}
		if !is {
			s.unread = content
		}
	}
	n := copy(buffer, s.unread)
	s.unread = s.unread[n:]
	return n, nil
}

// has reports whether an earlier stream has the chunk. If not, it becomes the next one of this stream.
func (l *ledger) has(chunk reuse.Chunk) (is bool, err error) {
	part := reuse.Run{Offset: l.written, Length: int64(chunk.Length)}
	if earlier, found := l.earlier.find(chunk); found {
		return true, l.order.Add(earlier)
	}
	l.written += part.Length
	if l.order != nil {
		err = l.order.Add(part)
	}
	return false, errors.Join(err, l.index.Add(chunk))
}

// close completes the objects and adds them to the stream.
func (l *ledger) close(frames []uint32) error {
	if l == nil {
		return nil
	}
	err := l.index.End(frames, blockBytes)
	if l.order != nil {
		err = errors.Join(err, l.order.End())
	}
	for _, object := range l.objects {
		if err == nil {
			err = errors.Join(object.Flush(), object.encrypted.Close())
		}
	}
	if err != nil {
		return err
	}
	l.earlier.close()
	l.stream.NewBytes, l.stream.Index = l.written, l.objects[0].cutter.piece()
	if l.order != nil {
		l.stream.Order, l.stream.Sources = l.objects[1].cutter.piece(), l.earlier.used(l.order)
	}
	return nil
}

// abandon discards what is not complete.
func (l *ledger) abandon() {
	if l == nil {
		return
	}
	for _, object := range l.objects {
		object.cutter.abandon()
	}
	l.earlier.close()
}
