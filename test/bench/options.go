/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The forms of the benchmark.
const (
	// thin simulates storage, scheduler and kubelets by a stub in the benchmark.
	thin = "thin"
	// full has a scheduler and all controllers, and simulates only kubelets.
	full = "full"
)

// options are the flags.
type options struct {
	form      string
	operators list
	auditLog  string
	out       string
	scheduler string
	kwok      string
	sizes     sizes
	rounds    int
	phases    list
	inFlight  int
	storm     int
	changes   int
	compareTo int
	patience  time.Duration
	restTime  time.Duration
	handovers int
	timeout   time.Duration
	profiles  string
	onlyCheck bool
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

// list is a list of texts.
type list []string

func (l *list) String() string { return strings.Join(*l, ",") }

// Set parses texts, separated by commas.
func (l *list) Set(text string) error {
	*l = strings.Split(text, ",")
	return nil
}

func parse(arguments []string) (options, error) {
	o := options{sizes: sizes{100, 1000}}
	for _, p := range phases {
		o.phases = append(o.phases, p.name)
	}
	all := slices.Clone(o.phases)
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.StringVar(&o.form, "form", thin, "The form of the benchmark: thin or full.")
	f.Var(&o.operators, "operators", "The files of further operators, separated by commas. test/bench/operator.yaml is one.")
	f.StringVar(&o.auditLog, "audit-log", "", "The audit log of the API server with audit-policy.yaml.")
	f.StringVar(&o.out, "out", "", "The file for the raw data. Empty: none.")
	f.StringVar(&o.scheduler, "scheduler", "", "The binary of kube-scheduler, for the full form.")
	f.StringVar(&o.kwok, "kwok", "", "The binary of kwok, for the full form.")
	f.Var(&o.sizes, "sizes", "The numbers of clusters at the measurements.")
	f.IntVar(&o.rounds, "rounds", 1, "The number of times to create and delete all clusters.")
	f.Var(&o.phases, "phases", "The phases to measure, separated by commas.")
	f.IntVar(&o.inFlight, "in-flight", 20, "The maximum number of clusters that change at the same time.")
	f.IntVar(&o.storm, "storm", 4, "The maximum number of changed objects that are not repaired yet.")
	f.IntVar(&o.changes, "changes", 0, "The maximum number of clusters that a phase after create changes. 0: all.")
	f.IntVar(&o.compareTo, "compare-up-to", 0, "The largest size at which other contestants than the operator take part. 0: all sizes.")
	f.DurationVar(&o.patience, "patience", 5*time.Minute, "The time limit for a change of one cluster.")
	f.DurationVar(&o.restTime, "rest", time.Minute, "The time to observe idle clusters.")
	f.IntVar(&o.handovers, "handovers", 3, "The number of times to kill the leader, and to stop it.")
	f.DurationVar(&o.timeout, "timeout", 6*time.Hour, "The time limit of the benchmark.")
	f.StringVar(&o.profiles, "profiles", "", "The directory for CPU and heap profiles of the operators. Empty: no profiles.")
	f.BoolVar(&o.onlyCheck, "only-check", false, "Check the flags and the files of operators, and measure nothing.")
	f.SetOutput(io.Discard) // main prints the error
	if err := f.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(os.Stderr)
			f.PrintDefaults()
		}
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%q is no flag", f.Arg(0))
	}
	return o, o.check(all)
}

func (o options) check(all []string) error {
	switch {
	case o.auditLog == "":
		return errors.New("--audit-log is required: run `make bench-quick`, which starts a control plane with an audit log")
	case o.form != thin && o.form != full:
		return fmt.Errorf("--form is %q: want %s or %s", o.form, thin, full)
	case o.form == full && (o.scheduler == "" || o.kwok == ""):
		return errors.New("--scheduler and --kwok are required for the full form: run `make bench`, which builds them")
	}
	return errors.Join(o.checkNumbers(), o.checkPhases(all))
}

func (o options) checkNumbers() error {
	for _, n := range []struct {
		flag         string
		value, least int
	}{
		{"rounds", o.rounds, 1}, {"in-flight", o.inFlight, 1}, {"storm", o.storm, 1},
		{"changes", o.changes, 0}, {"compare-up-to", o.compareTo, 0}, {"handovers", o.handovers, 0},
	} {
		if n.value < n.least {
			return fmt.Errorf("--%s is %d: want %d or more", n.flag, n.value, n.least)
		}
	}
	for flag, value := range map[string]time.Duration{"patience": o.patience, "rest": o.restTime, "timeout": o.timeout} {
		if value <= 0 {
			return fmt.Errorf("--%s is %s: want more than 0", flag, value)
		}
	}
	return nil
}

func (o options) checkPhases(all []string) error {
	for _, name := range o.phases {
		if !slices.Contains(all, name) {
			return fmt.Errorf("--phases names %q: want some of %s", name, strings.Join(all, ","))
		}
	}
	if !slices.Contains(o.phases, phaseCreate.name) {
		return errors.New("--phases needs the phase create")
	}
	if o.rounds > 1 && (!slices.Contains(o.phases, phaseDelete.name) || o.changes > 0) {
		return errors.New("--rounds needs the phase delete without --changes, so that each round starts without clusters")
	}
	return nil
}
