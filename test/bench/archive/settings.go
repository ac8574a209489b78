/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// settings are the flags.
type settings struct {
	// folder has the programs transfer and versitygw, and the folders engines and packages. Everything else is created in it.
	folder  string
	out     string
	commit  string
	command string
	phases  []string
	only    []string
	absent  map[string]string // why a program is not there

	rounds, losses int
	seconds        int // of each run of pgbench
	lag            time.Duration
	rate           int // commits a second of the client whose server is lost
	calm           int // commits a second at which latencies are measured
	drainGiB       float64
	baseGiB        float64
	logGiB         float64
}

func parse(arguments []string) (settings, error) {
	s := settings{absent: map[string]string{}}
	for _, p := range phases {
		s.phases = append(s.phases, p.name)
	}
	all := slices.Clone(s.phases)
	f := flag.NewFlagSet("bench-archive", flag.ContinueOnError)
	f.StringVar(&s.folder, "folder", "", "The folder with the programs, in which everything is created.")
	f.StringVar(&s.out, "out", "", "The file for the tables.")
	f.StringVar(&s.commit, "commit", "unknown", "The commit of this tree.")
	f.StringVar(&s.command, "command", "make bench-archive", "The command that started the benchmark.")
	f.Func("phases", "The phases, separated by commas (default: all).", words(&s.phases))
	f.Func("only", "The contestants, separated by commas (default: all).", words(&s.only))
	f.Func("absent", "PROGRAM=REASON; may be repeated.", func(text string) error {
		program, reason, found := strings.Cut(text, "=")
		if s.absent[program] = reason; !found {
			return errors.New("it must be PROGRAM=REASON")
		}
		return nil
	})
	f.IntVar(&s.rounds, "rounds", 3, "The number of rounds.")
	f.IntVar(&s.losses, "losses", 7, "The number of losses of each contestant in a round.")
	f.IntVar(&s.seconds, "seconds", 20, "The seconds of each run of pgbench.")
	f.DurationVar(&s.lag, "lag", 5*time.Second, "maxLagSeconds of the archive, and archive_timeout of the others.")
	f.IntVar(&s.rate, "rate", 50, "The commits a second of the client whose server is lost.")
	f.IntVar(&s.calm, "calm", 100, "The commits a second at which latencies are measured.")
	f.Float64Var(&s.drainGiB, "drain-gib", 1, "The log that is archived at once, in GiB.")
	f.Float64Var(&s.baseGiB, "base-gib", 10, "The data of the recovery, in GiB.")
	f.Float64Var(&s.logGiB, "log-gib", 5, "The log of the recovery, in GiB.")
	if err := f.Parse(arguments); err != nil {
		return s, err
	}
	return s, s.check(all)
}

// words reads a list.
func words(into *[]string) func(string) error {
	return func(text string) error {
		*into = strings.Split(text, ",")
		return nil
	}
}

func (s settings) check(all []string) error {
	for _, name := range s.phases {
		if !slices.Contains(all, name) {
			return fmt.Errorf("--phases names %q: want some of %s", name, strings.Join(all, ","))
		}
	}
	switch {
	case s.folder == "" || s.out == "":
		return errors.New("--folder and --out are required: run `make bench-archive`")
	case min(s.rounds, s.losses, s.seconds, s.rate, s.calm) < 1:
		return errors.New("--rounds, --losses, --seconds, --rate and --calm must be 1 or more")
	case s.lag < time.Second || s.lag%time.Second != 0:
		return fmt.Errorf("--lag is %s: want whole seconds", s.lag)
	case min(s.drainGiB, s.baseGiB, s.logGiB) < 0.1:
		return errors.New("--drain-gib, --base-gib and --log-gib must be 0.1 or more")
	}
	return nil
}

// needs refuses a disk without room. The primary and the stored copies of two tools exist at the same time, then these and a recovered
// copy.
func (s settings) needs() error {
	need := 1 + 4*s.drainGiB
	if slices.Contains(s.phases, "recovery") {
		need = max(need, 3+2.2*(s.baseGiB+s.logGiB))
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(s.folder, &disk); err != nil {
		return fmt.Errorf("look at the disk of %s: %w", s.folder, err)
	}
	if free := float64(disk.Bavail) * float64(disk.Bsize) / (1 << 30); free < need {
		return fmt.Errorf("%s has %.1f GiB free, but %.1f GiB are needed. Set TMPDIR to another disk, or lower BASE_GIB and LOG_GIB",
			filepath.Dir(s.folder), free, need)
	}
	return nil
}

// path is a path in the folder.
func (s settings) path(words ...string) string {
	return filepath.Join(append([]string{s.folder}, words...)...)
}
