/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// record is one figure, as a line of JSON in the raw data.
type record struct {
	Form     string  `json:"form"`
	Round    int     `json:"round"`
	Clusters int     `json:"clusters"`
	Who      string  `json:"who"`
	Phase    string  `json:"phase"`
	Figure   string  `json:"figure"`
	Value    float64 `json:"value"`
}

// report prints figures, and appends them to the file with the raw data.
type report struct {
	form  string
	round int
	raw   io.WriteCloser
	seen  map[record]float64 // without the value
}

// newReport creates the file with the raw data. Its first line describes the machine.
func newReport(o options, kubernetes string) (*report, error) {
	r := &report{form: o.form, seen: map[record]float64{}}
	if o.out == "" {
		return r, nil
	}
	if err := os.MkdirAll(filepath.Dir(o.out), 0o750); err != nil {
		return nil, fmt.Errorf("create the directory of the raw data: %w", err)
	}
	file, err := os.Create(o.out)
	if err != nil {
		return nil, fmt.Errorf("create the file with the raw data: %w", err)
	}
	r.raw = file
	return r, r.line(map[string]any{"machine": machineFacts(o, kubernetes)})
}

// fact adds a fact to those of the machine.
func (r *report) fact(name, value string) {
	if err := r.line(map[string]any{"machine": map[string]string{"form": r.form, name: value}}); err != nil {
		say("the raw data lacks a line: %v", err)
	}
}

func (r *report) line(value any) error {
	if r.raw == nil {
		return nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = r.raw.Write(append(text, '\n'))
	return err
}

// figure prints one figure.
func (r *report) figure(f record) {
	f.Form, f.Round = r.form, r.round
	fmt.Printf("%s_%s_%s_%d %s\n", f.Who, f.Phase, f.Figure, f.Clusters, number(f.Value))
	if err := r.line(f); err != nil {
		say("the raw data lacks a line: %v", err)
	}
	value := f.Value
	f.Value = 0
	r.seen[f] = value
}

// compared are the figures whose ratio to the floor is printed.
var compared = []string{"requests", "writes", "cpu_seconds", "api_server_cpu_seconds", "heap_bytes", "seconds", "p50_seconds"}

// ratios prints figures of a contestant divided by those of the floor.
func (r *report) ratios(who, phase string, clusters int) {
	for _, figure := range compared {
		key := record{Form: r.form, Round: r.round, Clusters: clusters, Who: who, Phase: phase, Figure: figure}
		if ratio, found := r.ratio(key); found {
			fmt.Printf("%s_%s_%s_to_floor_%d %s\n", who, phase, figure, clusters, number(ratio))
		}
	}
}

// ratio divides a figure by that of the floor.
func (r *report) ratio(key record) (ratio float64, found bool) {
	own, found := r.seen[key]
	key.Who = nameOfFloor
	floor := r.seen[key]
	if !found || floor <= 0 {
		return 0, false
	}
	return own / floor, true
}

// say prints the current step.
func say(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", arguments...)
}

// number formats a number with four significant digits and without an exponent.
func number(value float64) string {
	switch {
	case value >= 1000 || value <= -1000 || value == float64(int64(value)):
		return fmt.Sprintf("%.0f", value)
	case value >= 10 || value <= -10:
		return fmt.Sprintf("%.2f", value)
	default:
		return fmt.Sprintf("%.4f", value)
	}
}

// percentile returns the smallest value that is at least as large as that share of all values.
func percentile(values []time.Duration, percent int) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}
