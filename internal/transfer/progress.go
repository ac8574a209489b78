/*
SPDX-License-Identifier: Apache-2.0
*/

package transfer

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dbcluster/databasecluster-operator/internal/protocol"
)

// progress counts bytes and reports the count periodically.
type progress struct {
	log     *slog.Logger
	total   int64 // expected uncompressed bytes; 0: unknown
	started time.Time

	bytes, storedBytes counter
}

// every reports the progress periodically. The returned function reports it for the last time.
func (p *progress) every(ctx context.Context, interval time.Duration) (done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var finished sync.WaitGroup
	finished.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for before := int64(0); ; {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				bytes := p.bytes.Load()
				p.tell(float64(bytes-before)/interval.Seconds(), 0)
				before = bytes
			}
		}
	})
	return func() {
		cancel()
		finished.Wait()
		p.tell(float64(p.bytes.Load())/max(time.Since(p.started).Seconds(), 0.001), peakMemory())
	}
}

func (p *progress) tell(rate float64, peak int64) {
	tell(p.log, protocol.Progress{
		Bytes: p.bytes.Load(), StoredBytes: p.storedBytes.Load(), TotalBytes: p.total, BytesPerSecond: rate, PeakMemoryBytes: peak,
	})
}

// peakMemory returns the peak resident memory of this process without the action, or 0 if unknown. The peak of getrusage
// is not usable: it includes the memory of the process that executed this program.
func peakMemory() (peak int64) {
	status, _ := os.ReadFile("/proc/self/status") // without the file the peak is unknown
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &peak); err == nil {
			return peak << 10
		}
	}
	return 0
}

// counter is a writer that only counts.
type counter struct{ atomic.Int64 }

func (c *counter) Write(data []byte) (int, error) {
	c.Add(int64(len(data)))
	return len(data), nil
}
