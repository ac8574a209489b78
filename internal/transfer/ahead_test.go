/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

func TestReadingAheadReturnsTheSource(t *testing.T) {
	data := make([]byte, 5_000_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(data)
	for name, source := range map[string]func() io.Reader{
		"whole buffers":    func() io.Reader { return bytes.NewReader(data) },
		"parts of buffers": func() io.Reader { return iotest.HalfReader(bytes.NewReader(data)) },
		"data with EOF":    func() io.Reader { return iotest.DataErrReader(bytes.NewReader(data)) },
	} {
		t.Run(name, func(t *testing.T) {
			written := &bytes.Buffer{}
			if n, err := readAhead(source()).WriteTo(written); n != int64(len(data)) || err != nil || !bytes.Equal(written.Bytes(), data) {
				t.Errorf("WriteTo wrote %d bytes, %v", n, err)
			}
			if err := iotest.TestReader(readAhead(source()), data); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadingAheadReturnsTheErrorOfTheSourceAfterItsData(t *testing.T) {
	broken := errors.New("broken")
	for name, source := range map[string]func() io.Reader{
		"the error alone": func() io.Reader {
			return io.MultiReader(bytes.NewReader(make([]byte, 3*copyBytes)), iotest.ErrReader(broken))
		},
		"the error with the last bytes": func() io.Reader {
			left := 3
			return readerFunc(func(buffer []byte) (int, error) {
				if left--; left == 0 {
					return len(buffer), broken
				}
				return len(buffer), nil
			})
		},
	} {
		if n, err := readAhead(source()).WriteTo(io.Discard); n != 3*copyBytes || !errors.Is(err, broken) {
			t.Errorf("%s: WriteTo: %d bytes, %v", name, n, err)
		}
		if data, err := io.ReadAll(readAhead(source())); len(data) != 3*copyBytes || !errors.Is(err, broken) {
			t.Errorf("%s: Read: %d bytes, %v", name, len(data), err)
		}
	}
}

// endless counts the reads of a source without an end.
type endless struct{ reads atomic.Int32 }

func (e *endless) Read(buffer []byte) (int, error) {
	e.reads.Add(1)
	return len(buffer), nil
}

// Each bubble of synctest fails if a goroutine remains at its end.

func TestReadingAheadIsBoundedAndEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &endless{}
		a := readAhead(source)
		synctest.Wait()
		if reads := source.reads.Load(); reads != aheadBuffers {
			t.Errorf("without a consumer the source was read %d times", reads)
		}
		if n, err := a.WriteTo(&brokenWriter{io.ErrShortWrite, 3}); n != 3*copyBytes || !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("WriteTo: %d bytes, %v", n, err)
		}
		synctest.Wait()
		if reads := source.reads.Load(); reads != aheadBuffers+3 {
			t.Errorf("after three of four buffers the source was read %d times", reads)
		}
		a.close()
		a.close()
		if n, err := a.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after close: %d, %v", n, err)
		}
	})
}

func TestCloseWaitsForTheReadInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer, reading, closed := make(chan struct{}), false, false
		a := readAhead(readerFunc(func([]byte) (int, error) {
			reading = true
			<-answer
			reading = false
			return 1, nil
		}))
		synctest.Wait()
		go func() { a.close(); closed = true }()
		synctest.Wait()
		if !reading || closed {
			t.Errorf("reading: %t, closed: %t", reading, closed)
		}
		answer <- struct{}{}
		synctest.Wait()
		if reading || !closed {
			t.Errorf("after the read: reading: %t, closed: %t", reading, closed)
		}
	})
}

func TestAClosedReaderEndsTheStepThatReadsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := readAhead(&endless{})
		second := readAhead(first)
		synctest.Wait()
		second.close()
		first.close()
	})
}
