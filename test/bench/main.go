/*
SPDX-License-Identifier: Apache-2.0
*/

// Command bench measures the cost of the operator, of other operators that a file describes, and of a floor: a minimal
// client that writes the same objects. It runs against its own control plane, see hack/bench.sh, and prints one figure
// per line. docs/benchmarks/results.md explains the figures.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	run := runBench
	arguments := os.Args[1:]
	if len(arguments) > 0 && arguments[0] == nameOfFloor {
		run, arguments = runFloor, arguments[1:]
	}
	err := run(ctx, arguments)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// runBench runs all measurements.
func runBench(ctx context.Context, arguments []string) error {
	o, err := parse(arguments)
	if err != nil {
		return err
	}
	described, err := describe(append([]string{"test/bench/operator.yaml"}, o.operators...))
	if err != nil || o.onlyCheck {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	err = measureAll(ctx, fail, o, described)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause // such as a program that has ended: later errors of requests do not explain it
	}
	return err
}

// measureAll measures all phases with all contestants.
func measureAll(ctx context.Context, fail context.CancelCauseFunc, o options, described []description) error {
	w, err := newWorld(ctx, fail, o)
	if err != nil {
		return err
	}
	defer w.close()
	if o.form == full {
		if err := w.playKubelets(ctx); err != nil {
			return err
		}
	}
	if err := w.joinAll(ctx, described); err != nil {
		return err
	}
	for w.round = 1; w.round <= o.rounds; w.round++ {
		if err := w.runRound(ctx); err != nil {
			return fmt.Errorf("round %d: %w", w.round, err)
		}
	}
	return w.checkRejections(ctx)
}

// runRound creates the clusters of all sizes, and deletes them. The last round hands the operator over before.
func (w *world) runRound(ctx context.Context) error {
	w.report.round = w.round
	for n, size := range w.sizes {
		for _, p := range phases {
			last := n == len(w.sizes)-1
			if p.name == phaseDelete.name && last && w.round == w.rounds {
				if err := w.handOver(ctx); err != nil {
					return err
				}
			}
			if !w.wanted(p, n == 0, last) {
				continue
			}
			if err := w.everyone(ctx, p, size, (n+w.round)%2 == 0); err != nil {
				return fmt.Errorf("at %d clusters: %w", size, err)
			}
		}
	}
	return nil
}

// wanted reports whether a phase takes part at the first or at the last size.
func (w *world) wanted(p phase, isFirst, isLast bool) bool {
	return slices.Contains(w.phases, p.name) && (p.at != atFirst || isFirst) && (p.at != atLast || isLast)
}

// everyone lets all contestants execute a phase, in turns. Each other time, the order is reversed.
func (w *world) everyone(ctx context.Context, p phase, size int, reversed bool) error {
	if p.name == phaseRest.name {
		return w.rest(ctx, size)
	}
	turns := slices.Clone(w.taking(size))
	if p.name == phaseDelete.name {
		turns = slices.Clone(w.contestants) // each at its own size
	}
	if reversed {
		slices.Reverse(turns)
	}
	for _, c := range turns {
		if !p.possible(c.description) {
			continue
		}
		if err := w.turn(ctx, p, c, size); err != nil {
			return err
		}
	}
	for _, c := range turns {
		if c.Name != nameOfFloor {
			w.report.ratios(c.Name, p.name, size)
		}
	}
	return nil
}

// taking returns the contestants that take part at a size. The first one is this operator.
func (w *world) taking(size int) []*contestant {
	if w.compareTo > 0 && size > w.compareTo {
		return w.contestants[:1]
	}
	return w.contestants
}

// checkRejections fails if the API server has rejected requests because of its own load: then the figures are about its
// limits.
func (w *world) checkRejections(ctx context.Context) error {
	text, err := w.clients.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("read the API server's metrics: %w", err)
	}
	if sum(metricsOf(string(text)), "apiserver_flowcontrol_rejected_requests_total") > 0 {
		return errors.New("the API server has rejected requests because of its load: the figures are not valid")
	}
	return nil
}
