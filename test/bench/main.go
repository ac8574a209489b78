/*
SPDX-License-Identifier: Apache-2.0
*/

// Command bench measures what the operator costs, beside a floor: a bare client that writes the same
// objects. It runs against a control plane of its own, see hack/bench.sh, and prints one figure a line.
// What the figures mean stands in docs/benchmarks.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// options are the flags.
type options struct {
	manager   string
	auditLog  string
	sizes     sizes
	inFlight  int
	rest      time.Duration
	handovers int
	timeout   time.Duration
}

// sizes are how many clusters stand at each measurement.
type sizes []int

func (s *sizes) String() string { return strings.Trim(fmt.Sprint([]int(*s)), "[]") }

// Set reads numbers that grow, separated by commas.
func (s *sizes) Set(text string) error {
	*s = nil
	last := 0
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n <= last {
			return fmt.Errorf("%q: want numbers that grow, separated by commas", text)
		}
		*s = append(*s, n)
		last = n
	}
	return nil
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	run := runBench
	arguments := os.Args[1:]
	if len(arguments) > 0 && arguments[0] == "floor" {
		run, arguments = runFloor, arguments[1:]
	}
	err := run(ctx, arguments)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(arguments []string) (options, error) {
	o := options{sizes: sizes{100, 1000}}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.manager, "manager", "bin/manager", "The operator's binary.")
	flags.StringVar(&o.auditLog, "audit-log", "", "The log that the API server writes by audit-policy.yaml.")
	flags.Var(&o.sizes, "sizes", "How many clusters stand at each measurement.")
	flags.IntVar(&o.inFlight, "in-flight", 20, "How many clusters are on their way to Ready at any time.")
	flags.DurationVar(&o.rest, "rest", time.Minute, "How long to look at clusters at rest.")
	flags.IntVar(&o.handovers, "handovers", 3, "How often to kill the leader, and how often to stop it.")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Minute, "When to give up.")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.auditLog == "" {
		return o, fmt.Errorf("--audit-log is not given: run it by `make bench-quick`, which starts a control plane with one")
	}
	return o, nil
}

// runBench measures everything once.
func runBench(ctx context.Context, arguments []string) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	w, err := newWorld(ctx, o, filepath.Dir(o.auditLog))
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.startContestants(ctx); err != nil {
		return err
	}
	for _, size := range o.sizes {
		if err := w.measure(ctx, size); err != nil {
			return fmt.Errorf("at %d clusters: %w", size, err)
		}
	}
	return w.handOver(ctx)
}
