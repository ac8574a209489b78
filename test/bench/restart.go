/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// restart stops an operator and starts it again with all its clusters. It counts the requests until the operator is idle
// again, and measures the time until it has looked at every cluster, and its peak memory.
func (w *world) restart(ctx context.Context, c *contestant, size int) error {
	say("%s: restart with %d clusters", c.Name, size)
	metrics, err := c.program().scrape(ctx)
	if err != nil {
		return err
	}
	counted := sum(metrics, metricPasses) > 0 // else it is no controller-runtime
	if err := c.program().stop(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	from := time.Now()
	p, err := w.launch(ctx, c)
	if err != nil {
		return err
	}
	ready := time.Since(from)
	var passed time.Duration
	err = w.profiled(ctx, c, fmt.Sprintf("%s-restart-%d", c.Name, size), func() error {
		if !counted {
			return w.settle(ctx, c)
		}
		if err := p.drained(ctx, size, w.patience); err != nil {
			return err
		}
		passed = time.Since(from)
		return w.settle(ctx, c)
	})
	cpu, cpuErr := p.cpu()
	peak, peakErr := p.peak()
	if err := errors.Join(err, cpuErr, peakErr); err != nil {
		return err
	}
	t := turn{who: c.Name, phase: "restart", clusters: size, report: w.report}
	all := w.audit.between(c.user, from, time.Now())
	t.requests(work(all), 1)
	t.figure(kindWatch, float64(tally(all, request.kind)[kindWatch]))
	w.countIdle(t, c, from)
	t.figure("ready_seconds", ready.Seconds())
	if counted {
		t.figure("passed_seconds", passed.Seconds())
	}
	t.figure("cpu_seconds", cpu)
	t.figure("peak_resident_bytes", peak)
	return nil
}

// drained waits until every cluster had a pass and no other pass is due. It asks seldom enough to use a quarter of the time
// at most, because the operator needs time for the response. So the result is late by a few responses at most.
func (p *program) drained(ctx context.Context, size int, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		from := time.Now()
		values, err := p.scrape(ctx)
		if err != nil {
			return err
		}
		if sum(values, metricPasses) >= float64(size) && sum(values, metricQueued) == 0 && sum(values, metricWorking) == 0 {
			return nil
		}
		select {
		case <-time.After(max(100*time.Millisecond, 3*time.Since(from))):
		case <-ctx.Done():
			return fmt.Errorf("after %s, the metrics show %.0f passes for %d clusters: %w", patience, sum(values, metricPasses), size,
				context.Cause(ctx))
		}
	}
}

// peak returns the largest resident memory so far, in bytes.
func (p *process) peak() (float64, error) {
	running, err := procfs.NewProc(p.command.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("find the program: %w", err)
	}
	status, err := running.NewStatus()
	if err != nil {
		return 0, fmt.Errorf("read the memory of the program: %w", err)
	}
	return float64(status.VmHWM), nil
}
