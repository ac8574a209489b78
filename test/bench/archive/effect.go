/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The figures of the effect on the server.
const (
	throughput    = "transactions_per_second"
	latencyMedian = "commit_ms_median"
	latencyHigh   = "commit_ms_99_percent"
	cpuCalm       = "cpu_percent_of_a_core_beside"
)

// scale is that of pgbench: 15 MB each.
const scale = 10

// fill creates a server with the tables of pgbench.
func (b *bench) fill() error {
	b.tell("Creating the tables of pgbench.")
	if err := b.copyOf(emptyServer, b.path(filledServer)); err != nil {
		return err
	}
	return b.with(b.path(filledServer), func(s *server) error {
		_, err := b.do(nil, append([]string{"pgbench", "-i", "-q", "-s", strconv.Itoa(scale)}, s.connection("app", "app")...)...)
		if err != nil {
			return err
		}
		_, err = s.ask(reserve)
		return err
	})
}

// effect measures commits at a fixed rate, then as many transactions as the server can.
func (b *bench) effect(c contestant) error {
	t, err := b.trial(c, filledServer)
	if err != nil {
		return err
	}
	if err := cold(t.folder); err != nil {
		return err
	}
	if err := t.run(); err != nil {
		return err
	}
	if _, err := t.bench(2, "-t", "50"); err != nil { // everything is connected and in memory
		return err
	}
	if err := t.latencies(); err != nil {
		return err
	}
	if _, err := t.server.ask("CHECKPOINT"); err != nil {
		return err
	}
	text, err := t.bench(4, "-T", strconv.Itoa(b.seconds), "-N")
	if err != nil {
		return err
	}
	rate, err := rateIn(text)
	if err != nil {
		return err
	}
	b.figure(c.name(), throughput, rate)
	return t.remove()
}

// bench runs pgbench with a number of clients.
func (t *trial) bench(clients int, words ...string) (string, error) {
	words = append([]string{"pgbench", "-n", "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2"}, words...)
	return t.b.do(nil, append(words, t.server.connection("app", "app")...)...)
}

// latencies measures transactions of one row at a rate that is far from the limit.
func (t *trial) latencies() error {
	script, prefix := filepath.Join(t.folder, "commit.sql"), filepath.Join(t.folder, "latencies")
	if err := os.WriteFile(script, []byte("INSERT INTO commits DEFAULT VALUES;\n"), 0o600); err != nil {
		return fmt.Errorf("write a script: %w", err)
	}
	before, err := spending(t.receiver)
	if err != nil {
		return err
	}
	words := []string{"-T", strconv.Itoa(t.b.seconds), "-R", strconv.Itoa(t.b.calm), "-f", script, "-l", "--log-prefix=" + prefix}
	if _, err := t.bench(2, words...); err != nil {
		return err
	}
	cpu, err := before.since()
	if err != nil {
		return err
	}
	if t.receiver != nil {
		t.b.figure(t.c.name(), cpuCalm, 100*cpu[0]/float64(t.b.seconds))
	}
	files, err := filepath.Glob(prefix + "*")
	if err != nil {
		return err
	}
	var all []float64
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // of pgbench
		if err != nil {
			return fmt.Errorf("read the latencies: %w", err)
		}
		all = append(all, latenciesIn(string(text))...)
	}
	slices.Sort(all)
	if len(all) == 0 {
		return fmt.Errorf("pgbench has logged no transaction in %s", prefix)
	}
	t.b.figure(t.c.name(), latencyMedian, percentile(all, 50))
	t.b.figure(t.c.name(), latencyHigh, percentile(all, 99))
	return nil
}

// latenciesIn reads a log of pgbench: the third column has the microseconds since a transaction was due, the seventh those until it began.
func latenciesIn(text string) (all []float64) {
	for line := range strings.Lines(text) {
		columns := strings.Fields(line)
		if len(columns) < 7 {
			continue
		}
		whole, wrong := strconv.ParseFloat(columns[2], 64)
		late, wrongToo := strconv.ParseFloat(columns[6], 64)
		if wrong == nil && wrongToo == nil {
			all = append(all, (whole-late)/1000)
		}
	}
	return all
}

// rateIn reads the transactions a second.
func rateIn(text string) (float64, error) {
	for line := range strings.Lines(text) {
		if after, is := strings.CutPrefix(line, "tps = "); is {
			return strconv.ParseFloat(strings.Fields(after)[0], 64)
		}
	}
	return 0, fmt.Errorf("pgbench reports no rate: %s", text)
}
