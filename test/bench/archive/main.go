/*
SPDX-License-Identifier: Apache-2.0
*/

// Command archive compares the continuous archive with other ways to archive the log of PostgreSQL: the seconds of commits that the loss
// of a server costs, throughput, CPU time, the effect on the server, and recoveries. All servers are processes on loopback. The
// script bench-archive.sh in hack prepares a folder with the programs, and runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// helpers are the commands by which the benchmark runs itself.
var helpers = map[string]func([]string) error{"under": under, "put": putObject, "get": getObject}

func main() {
	arguments := os.Args[1:]
	run := func(arguments []string) error {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		return measureAll(ctx, arguments)
	}
	if len(arguments) > 0 && helpers[arguments[0]] != nil {
		run, arguments = helpers[arguments[0]], arguments[1:]
	}
	if err := run(arguments); err != nil {
		fmt.Fprintln(os.Stderr, "bench-archive:", err)
		os.Exit(1)
	}
}

// bench is a run.
type bench struct {
	settings
	ctx         context.Context //nolint:containedctx // of the whole run
	store       *store
	contestants []contestant
	figures     figures
	processes   []*process
	backlog     backlog
	places      int
	round       int
	started     time.Time
	busy        float64 // CPU seconds of the machine at the start
}

// phase measures one contestant in one round.
type phase struct {
	name    string
	prepare func(*bench) error
	measure func(*bench, contestant) error
	// takes reports whether a contestant takes part.
	takes func(contestant) bool
}

var phases = []phase{
	{"loss", nil, (*bench).losses, archives},
	{"drain", (*bench).writeBacklog, (*bench).drain, archives},
	{"effect", (*bench).fill, (*bench).effect, func(contestant) bool { return true }},
	{"recovery", (*bench).writeHistory, (*bench).recovery, func(c contestant) bool { _, is := c.(restorer); return is }},
}

// archives reports whether a contestant has an archive.
func archives(c contestant) bool { return c.name() != nameOfNone }

func measureAll(ctx context.Context, arguments []string) (err error) {
	s, err := parse(arguments)
	if err != nil {
		return err
	}
	b := &bench{settings: s, ctx: ctx, figures: figures{}, started: time.Now(), busy: busy()}
	if err := errors.Join(b.needs(), b.choose()); err != nil {
		return err
	}
	defer b.killAll()
	if b.store, err = b.startStore(); err != nil {
		return err
	}
	if err := b.template(); err != nil {
		return err
	}
	for _, p := range phases {
		if !slices.Contains(s.phases, p.name) {
			continue
		}
		if err := b.phase(p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return b.write()
}

// phase runs the rounds of a phase. Each other round has the opposite order.
func (b *bench) phase(p phase) error {
	if p.prepare != nil {
		if err := p.prepare(b); err != nil {
			return err
		}
	}
	for b.round = 1; b.round <= b.rounds; b.round++ {
		turns := slices.Clone(b.contestants)
		if b.round%2 == 0 {
			slices.Reverse(turns)
		}
		for _, c := range turns {
			if !p.takes(c) || c.missing() != "" {
				continue
			}
			if err := errors.Join(b.ctx.Err(), p.measure(b, c)); err != nil {
				return fmt.Errorf("%s: round %d: %w", c.name(), b.round, err)
			}
		}
	}
	return nil
}

// figure records a value, and prints it.
func (b *bench) figure(c, what string, value float64) {
	key := key{c, what}
	b.figures[key] = append(b.figures[key], value)
	fmt.Printf("FIGURE %-22s %-34s round %d %s\n", c, what, b.round, number(value))
}

// tell reports the progress.
func (b *bench) tell(words ...any) {
	fmt.Fprintln(os.Stderr, strings.TrimSpace(fmt.Sprintln(words...)))
}
