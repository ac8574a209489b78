/*
SPDX-License-Identifier: Apache-2.0
*/

// Command bench measures the cost of the operator and of a floor: a minimal client that writes the same objects. It
// runs against its own control plane, see hack/bench.sh, and prints one figure per line. docs/benchmarks.md explains
// the figures.
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
	profiles  string
}

// sizes are the numbers of clusters at the measurements.
type sizes []int

func (s *sizes) String() string { return strings.Trim(fmt.Sprint([]int(*s)), "[]") }

// Set parses increasing numbers, separated by commas.
func (s *sizes) Set(text string) error {
	*s = nil
	last := 0
	for field := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n <= last {
			return fmt.Errorf("%q: want increasing numbers, separated by commas", text)
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
	flags.StringVar(&o.auditLog, "audit-log", "", "The audit log of the API server with audit-policy.yaml.")
	flags.Var(&o.sizes, "sizes", "The numbers of clusters at the measurements.")
	flags.IntVar(&o.inFlight, "in-flight", 20, "The maximum number of clusters that are not Ready yet.")
	flags.DurationVar(&o.rest, "rest", time.Minute, "The time to observe idle clusters.")
	flags.IntVar(&o.handovers, "handovers", 3, "The number of times to kill the leader, and to stop it.")
	flags.DurationVar(&o.timeout, "timeout", 30*time.Minute, "The time limit of the benchmark.")
	flags.StringVar(&o.profiles, "profiles", "", "The directory for CPU and heap profiles of the operator. Empty: no profiles.")
	if err := flags.Parse(arguments); err != nil {
		return o, err
	}
	if o.auditLog == "" {
		return o, fmt.Errorf("--audit-log is required: run `make bench-quick`, which starts a control plane with an audit log")
	}
	return o, nil
}

// runBench runs all measurements once.
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
