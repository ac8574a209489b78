/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// texts is compressible data of a size.
func texts(size int) []byte {
	random, made := rand.New(rand.NewPCG(1, 2)), &bytes.Buffer{} //nolint:gosec // not a secret
	for made.Len() < size {
		fmt.Fprintf(made, "row %d of customer %d\n", made.Len(), random.IntN(1000))
	}
	return made.Bytes()[:size]
}

func newTestCompressor(t *testing.T, into io.Writer, how protocol.Compression) *compressor {
	t.Helper()
	c, err := newCompressor(into, how, func(error) {})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func compressed(t *testing.T, source io.Reader, how protocol.Compression) []byte {
	t.Helper()
	var into bytes.Buffer
	c := newTestCompressor(t, &into, how)
	_, err := c.ReadFrom(source)
	if err := errors.Join(err, c.Close()); err != nil {
		t.Fatal(err)
	}
	return into.Bytes()
}

func TestBlocksThatAreCompressedInParallelKeepTheirSequence(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	decompressor, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer decompressor.Close()
	for _, size := range []int{0, 1, blockBytes - 1, blockBytes, blockBytes + 1, 7*blockBytes + 12345} {
		data := texts(size)
		for _, how := range []protocol.Compression{{}, {Level: 1, Threads: 1}, {Level: 9, Threads: 2}, {Level: 5, Threads: 4}} {
			frames := compressed(t, iotest.HalfReader(bytes.NewReader(data)), how)
			if got, err := decompressor.DecodeAll(frames, nil); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes at %+v: %d bytes, %v", size, how, len(got), err)
			}
		}
	}
}

func TestTheProgramZstdReadsABackup(t *testing.T) {
	if _, err := exec.LookPath("zstd"); err != nil {
		t.Skip("the program zstd is not installed")
	}
	data := texts(2*blockBytes + 1)
	command := exec.CommandContext(t.Context(), "zstd", "-dc")
	command.Stdin = bytes.NewReader(compressed(t, bytes.NewReader(data), protocol.Compression{}))
	if got, err := command.Output(); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestTheHighestLevelMakesTheSmallestBackup(t *testing.T) {
	size := func(level int) int {
		return len(compressed(t, bytes.NewReader(texts(blockBytes)), protocol.Compression{Level: level}))
	}
	if one, three, nine := size(1), size(3), size(9); nine >= one || nine >= three || size(0) != three {
		t.Errorf("level 1: %d bytes, level 3: %d bytes, level 9: %d bytes", one, three, nine)
	}
}

func TestACompressorReportsTheErrorsOfBothSidesAndEndsItsThreads(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		source io.Reader
		into   io.Writer
	}{
		"of the source, at once":          {iotest.ErrReader(broken), io.Discard},
		"of the source, in a block":       {io.MultiReader(bytes.NewReader(texts(blockBytes+9)), iotest.ErrReader(broken)), io.Discard},
		"of the source, later":            {io.MultiReader(bytes.NewReader(texts(3*blockBytes)), iotest.ErrReader(broken)), io.Discard},
		"of the store, at once":           {bytes.NewReader(texts(1)), &brokenWriter{broken, 0}},
		"of the store, before the end":    {&endless{}, &brokenWriter{broken, 2}},
		"of the store, at the last write": {bytes.NewReader(texts(3 * blockBytes)), &brokenWriter{broken, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTestCompressor(t, test.into, protocol.Compression{})
				_, err := c.ReadFrom(test.source)
				if err == nil {
					err = c.Close()
				}
				c.abandon()
				c.abandon()
				if closed := c.Close(); !errors.Is(err, broken) || closed == nil {
					t.Errorf("%v, then %v", err, closed)
				}
			})
		})
	}
}

// brokenWriter fails after a number of writes.
type brokenWriter struct {
	err  error
	left int
}

func (w *brokenWriter) Write(data []byte) (int, error) {
	if w.left--; w.left < 0 {
		return 0, w.err
	}
	return len(data), nil
}

// slowWriter waits in each write until the test gives the result.
type slowWriter struct {
	results chan error
	writes  int
}

func (w *slowWriter) Write(data []byte) (int, error) {
	w.writes++
	return len(data), <-w.results
}

func TestACompressorReportsAnErrorOfTheStoreWhileItsSourceIsSilent(t *testing.T) {
	broken := errors.New("broken")
	for name, stopped := range map[string]error{"the source ends": io.EOF, "the source fails": io.ErrClosedPipe} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reported, reports := make(chan error, 2), 0
				c, err := newCompressor(&brokenWriter{broken, 0}, protocol.Compression{}, func(err error) { reports++; reported <- err })
				if err != nil {
					t.Fatal(err)
				}
				// After two blocks the source waits, if the error is not known yet. It ends because of the report, as an action does.
				silent := readerFunc(func([]byte) (int, error) {
					if first := <-reported; !errors.Is(first, broken) {
						t.Errorf("reported was %v", first)
					}
					return 0, stopped
				})
				if _, err := c.ReadFrom(io.MultiReader(bytes.NewReader(texts(2*blockBytes)), silent)); !errors.Is(err, broken) {
					t.Error(err)
				}
				c.abandon()
				if reports != 1 {
					t.Errorf("the error was reported %d times", reports)
				}
			})
		})
	}
}

func TestASlowStoreBoundsTheBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const threads = 2
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		source, into := &endless{}, &slowWriter{results: make(chan error)}
		c := newTestCompressor(t, into, protocol.Compression{})
		var ended error
		go func() { _, ended = c.ReadFrom(source) }()
		synctest.Wait()
		if read := int(source.reads.Load()) * copyBytes; read != (threads+2)*blockBytes {
			t.Errorf("the compressor read %d bytes", read)
		}
		into.results <- io.ErrShortWrite
		synctest.Wait()
		if into.writes != 1 || !errors.Is(ended, io.ErrShortWrite) {
			t.Errorf("%d writes, %v", into.writes, ended)
		}
		c.abandon()
	})
}

func TestAbandonWaitsForTheWriteInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		into, abandoned := &slowWriter{results: make(chan error)}, false
		c := newTestCompressor(t, into, protocol.Compression{})
		if _, err := c.ReadFrom(bytes.NewReader(texts(2*blockBytes + 1))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		go func() { c.abandon(); abandoned = true }()
		synctest.Wait()
		if into.writes != 1 || abandoned {
			t.Errorf("%d writes, abandoned: %t", into.writes, abandoned)
		}
		into.results <- nil
		synctest.Wait()
		if into.writes != 1 || !abandoned {
			t.Errorf("after the write: %d writes, abandoned: %t", into.writes, abandoned)
		}
	})
}

func TestAnAbandonedCompressorWritesNothingMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var into bytes.Buffer
		c := newTestCompressor(t, &into, protocol.Compression{})
		if _, err := c.ReadFrom(bytes.NewReader(texts(100))); err != nil {
			t.Fatal(err)
		}
		c.abandon()
		if err := c.Close(); into.Len() > 0 || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("it wrote %d bytes, %v", into.Len(), err)
		}
	})
}

func TestTheProcessorsLimitTheThreads(t *testing.T) {
	for _, test := range []struct{ given, processors, want int }{{0, 1, 1}, {0, 3, 3}, {0, 64, 4}, {2, 64, 2}, {4, 2, 2}, {1, 8, 1}} {
		if got := threadsOf(protocol.Compression{Threads: test.given}, test.processors); got != test.want {
			t.Errorf("%d threads with %d processors: %d, not %d", test.given, test.processors, got, test.want)
		}
	}
}
