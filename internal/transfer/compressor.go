/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// compressor compresses blocks of its input in parallel with zstd, and writes them in sequence. Each block is a frame of
// its own, so no thread waits for another. Frames after each other are a valid zstd file.
//
// The number of blocks bounds the memory: one for each thread, one that fills, and one that is written.
type compressor struct {
	into   io.Writer
	frames encoders
	filled *block
	free   chan *block
	queue  chan *block // in the sequence of the input
	ended  chan struct{}
	failed atomic.Pointer[error]
	report func(error) // is called once, with the error of a write
	finish func()
	sizes  []uint32 // of the frames that were written; complete after Close
}

// block is a part of the input, and its frame.
type block struct {
	data, frame []byte
	compressed  chan struct{} // has an element when frame is complete
}

func newCompressor(into io.Writer, how protocol.Compression, report func(error)) (*compressor, error) {
	threads := threadsOf(how, runtime.GOMAXPROCS(0))
	frames, err := newEncoders(how.LevelOrDefault(), threads)
	if err != nil {
		return nil, err
	}
	blocks := threads + 2
	c := &compressor{
		into: into, frames: frames, free: make(chan *block, blocks), queue: make(chan *block, blocks), ended: make(chan struct{}), report: report,
	}
	for range blocks {
		c.free <- &block{compressed: make(chan struct{}, 1)}
	}
	c.finish = sync.OnceFunc(func() { close(c.queue); <-c.ended })
	go c.write()
	return c, nil
}

// threadsOf returns the number of threads of the compressor. The number of processors respects the CPU limit of the
// container: Go rounds it up, and to 2 if the machine has that many. More threads would need more memory, and save no
// time.
func threadsOf(how protocol.Compression, processors int) int {
	if how.Threads == 0 {
		how.Threads = protocol.MaxCompressionThreads
	}
	return min(how.Threads, processors)
}

// ReadFrom reads the source to its end. It reads into blocks: nothing copies the data again. An error of a write takes
// precedence, because it may also be the cause of the end of the source.
func (c *compressor) ReadFrom(source io.Reader) (read int64, err error) {
	for err == nil && c.failure() == nil {
		if c.filled == nil {
			c.filled = c.next()
		}
		var n int
		data := c.filled.data
		n, err = source.Read(data[len(data):min(len(data)+copyBytes, blockBytes)])
		read += int64(n)
		if c.filled.data = data[:len(data)+n]; len(c.filled.data) == blockBytes {
			c.compress()
		}
	}
	if failed := c.failure(); failed != nil {
		return read, failed
	}
	if errors.Is(err, io.EOF) {
		return read, nil
	}
	return read, err
}

// failure returns the error of a write, or nil.
func (c *compressor) failure() error {
	if failed := c.failed.Load(); failed != nil {
		return *failed
	}
	return nil
}

// next returns an empty block. It allocates the memory of a block at its first use: a small stream needs only one.
func (c *compressor) next() *block {
	empty := <-c.free
	if empty.data == nil {
		empty.data, empty.frame = make([]byte, 0, blockBytes), make([]byte, 0, blockBytes+frameOverhead)
	}
	empty.data = empty.data[:0]
	return empty
}

// compress starts to compress the filled block.
func (c *compressor) compress() {
	full := c.filled
	c.filled = nil
	c.queue <- full
	go func() {
		full.frame = c.frames.encode(full.data, full.frame)
		full.compressed <- struct{}{}
	}()
}

// write writes the frames. After an error it only frees the blocks, so that ReadFrom does not wait for ever.
func (c *compressor) write() {
	defer close(c.ended)
	for full := range c.queue {
		<-full.compressed
		if c.failure() == nil {
			c.sizes = append(c.sizes, uint32(len(full.frame))) //nolint:gosec // below blockBytes+frameOverhead
			if _, err := c.into.Write(full.frame); err != nil {
				c.failed.Store(&err)
				c.report(err)
			}
		}
		c.free <- full
	}
}

// Close compresses the rest, and returns when all frames are written.
func (c *compressor) Close() error {
	if c.filled != nil && len(c.filled.data) > 0 && c.failure() == nil {
		c.compress()
	}
	c.finish()
	return c.failure()
}

// abandon ends the threads and writes no other frame. It waits for the write in progress. ReadFrom must have returned.
func (c *compressor) abandon() {
	c.failed.CompareAndSwap(nil, &io.ErrClosedPipe)
	c.finish()
}
