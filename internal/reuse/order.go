/*
SPDX-License-Identifier: Apache-2.0
*/

package reuse

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// Run is a part of the data: the bytes of a stream from an offset on. Source 0 is the stream of the backup itself.
type Run struct {
	Source         int
	Offset, Length int64
}

// OrderWriter writes an order. Parts that continue each other become one run. An offset is stored relative to the end of the last run of
// its source, because most runs continue there.
type OrderWriter struct {
	into    io.Writer
	pending Run
	ends    [protocol.MaxSources + 1]int64
	last    Run
	used    [protocol.MaxSources + 1]int64
}

// NewOrderWriter writes an order into a writer, which must have a buffer.
func NewOrderWriter(into io.Writer) *OrderWriter { return &OrderWriter{into: into} }

// Add adds the next part of the data.
func (w *OrderWriter) Add(part Run) error {
	if part != w.last { // zeros, for example
		w.used[part.Source] += part.Length
	}
	w.last = part
	if last := &w.pending; last.Source == part.Source && last.Offset+last.Length == part.Offset {
		last.Length += part.Length
		return nil
	}
	err := w.End()
	w.pending = part
	return err
}

// End writes the last run.
func (w *OrderWriter) End() error {
	if w.pending.Length == 0 {
		return nil
	}
	run := w.pending
	w.pending = Run{}
	record := binary.AppendUvarint(nil, uint64(run.Source)) //nolint:gosec // a small number
	record = binary.AppendVarint(record, run.Offset-w.ends[run.Source])
	w.ends[run.Source] = run.Offset + run.Length
	_, err := w.into.Write(binary.AppendVarint(record, run.Length))
	return err
}

// Used returns how many bytes of a source are used, without repetitions after each other.
func (w *OrderWriter) Used(source int) int64 { return w.used[source] }

// OrderReader reads an order.
type OrderReader struct {
	from *bufio.Reader
	ends [protocol.MaxSources + 1]int64
}

// NewOrderReader reads an order.
func NewOrderReader(from io.Reader) *OrderReader { return &OrderReader{from: bufio.NewReader(from)} }

// Next returns the next run, or io.EOF.
func (r *OrderReader) Next() (Run, error) {
	source, err := binary.ReadUvarint(r.from)
	if errors.Is(err, io.EOF) {
		return Run{}, io.EOF
	}
	offset, second := binary.ReadVarint(r.from)
	length, third := binary.ReadVarint(r.from)
	if err := errors.Join(err, second, third); err != nil {
		return Run{}, fmt.Errorf("the order of the data ends in a run: %w", errors.Join(err, io.ErrUnexpectedEOF))
	}
	if source > protocol.MaxSources {
		return Run{}, fmt.Errorf("the order of the data has the source %d", source)
	}
	run := Run{int(source), r.ends[source] + offset, length} //nolint:gosec // at most MaxSources
	if run.Offset < 0 || length <= 0 || run.Offset+length < 0 {
		return Run{}, fmt.Errorf("the order of the data has the run %+v", run)
	}
	r.ends[source] = run.Offset + length
	return run, nil
}
