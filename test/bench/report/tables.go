/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// column is a column of a table: a figure, multiplied by a factor.
type column struct {
	header, figure string
	factor         float64
}

const (
	milli = 1e3  // seconds in milliseconds
	kilo  = 1e-3 // bytes in KB
	mega  = 1e-6 // bytes in MB
)

// tables are the columns of each phase. Phases that change pods have the same columns.
var tables = map[string][]column{
	"create": append(requests, column{"CPU ms", "cpu_seconds", milli}, column{"CPU ms of the API server", "api_server_cpu_seconds", milli},
		column{"heap KB", "heap_bytes", kilo}, column{"heap KB without members", "heap_bytes_without_members", kilo},
		column{"all s", "seconds", 1}, column{"p50 s", "p50_seconds", 1}, column{"p99 s", "p99_seconds", 1},
		column{"CPU % of others", "foreign_cpu_share", 100}),
	"rest": {{"requests", "requests", 1}, {"watches", "watch", 1}, {"requests for the lease", "lease", 1}, {"seconds", "window_seconds", 1},
		{"CPU s an hour", "cpu_seconds_per_hour", 1}, {"live heap MB", "heap_live_bytes", mega}, {"resident MB", "resident_bytes", mega},
		{"goroutines", "goroutines", 1}},
	"rollout":    changes,
	"scale_up":   append(changes, column{"heap KB per member", "heap_bytes_per_member", kilo}),
	"scale_down": changes,
	"delete":     changes,
	"drift": append(requests, column{"CPU ms", "cpu_seconds", milli}, column{"p50 ms", "p50_seconds", milli},
		column{"p99 ms", "p99_seconds", milli},
		column{"CPU % of others", "foreign_cpu_share", 100}),
	"restart": {{"lists", "list", 1}, {"watches", "watch", 1}, {"gets", "get", 1}, {"writes", "writes", 1},
		{"requests for clusters", "requests_for_idle_clusters", 1}, {"s until ready", "ready_seconds", 1},
		{"s until the first passes are over", "passed_seconds", 1}, {"CPU s", "cpu_seconds", 1},
		{"peak resident MB", "peak_resident_bytes", mega}},
	"handover": {{"kill, min s", "kill_min_seconds", 1}, {"kill, median s", "kill_median_seconds", 1}, {"kill, max s", "kill_max_seconds", 1},
		{"exit, min s", "exit_min_seconds", 1}, {"exit, median s", "exit_median_seconds", 1}, {"exit, max s", "exit_max_seconds", 1},
		{"requests for idle clusters", "requests_for_idle_clusters", 1}},
}

var requests = []column{
	{"writes", "writes", 1}, {"events", "events", 1}, {"reads", "reads", 1}, {"responses of 409", "conflicts", 1},
}

var changes = []column{
	{"create", "create", 1}, {"patch", "patch", 1}, {"update", "update", 1}, {"delete", "delete", 1}, {"writes", "writes", 1},
	{"events", "events", 1}, {"reads", "reads", 1}, {"responses of 409", "conflicts", 1}, {"CPU ms", "cpu_seconds", milli},
	{"p50 s", "p50_seconds", 1}, {"p99 s", "p99_seconds", 1},
}

// phases is the order of the tables.
var phases = []string{"create", "rest", "rollout", "scale_up", "scale_down", "drift", "restart", "handover", "delete"}

// blocks returns the names of the blocks that have content.
func (d *data) blocks() []string {
	names := []string{"aims", "ratios"}
	for _, form := range slices.Sorted(maps.Keys(d.machines)) {
		names = append(names, "machine-"+form)
		for _, phase := range phases {
			names = append(names, form+"-"+phase)
		}
	}
	names = append(names, "plots")
	return slices.DeleteFunc(names, func(name string) bool { return d.block(name) == "" })
}

// block returns the content of a block, or nothing if the run has no figures for it.
func (d *data) block(name string) string {
	form, phase, _ := strings.Cut(name, "-")
	switch {
	case name == "aims":
		return d.aims()
	case name == "ratios":
		return d.ratios()
	case name == "plots":
		return d.plots()
	case form == "machine":
		return d.machine(phase)
	default:
		return d.table(form, phase)
	}
}

var block = regexp.MustCompile(`(?s)<!-- figures: ([a-z_-]+) -->\n.*?<!-- end of figures -->`)

// fill replaces the blocks of a document. A block stays as it is if the run has no figures for it.
func (d *data) fill(document string) (string, error) {
	var failed error
	filled := block.ReplaceAllStringFunc(document, func(found string) string {
		name := block.FindStringSubmatch(found)[1]
		_, phase, _ := strings.Cut(name, "-")
		if tables[phase] == nil && !slices.Contains([]string{"aims", "ratios", "plots", "machine-thin", "machine-full"}, name) {
			failed = errors.Join(failed, fmt.Errorf("the block %q is not known", name))
		}
		content := d.block(name)
		if content == "" {
			return found
		}
		return "<!-- figures: " + name + " -->\n" + content + "<!-- end of figures -->"
	})
	return filled, failed
}

// table has a row for each size and contestant.
func (d *data) table(form, phase string) string {
	var text strings.Builder
	for _, size := range d.sizes(form, phase) {
		for _, who := range d.contestants(form) {
			cells, some := []string{strconv.Itoa(size), who}, false
			for _, c := range tables[phase] {
				value, found := d.figures[key{form, who, phase, c.figure, size}]
				some = some || found
				cells = append(cells, cell(value*c.factor, found))
			}
			if some {
				row(&text, cells)
			}
		}
	}
	if text.Len() == 0 {
		return ""
	}
	headers := []string{"clusters", "contestant"}
	for _, c := range tables[phase] {
		headers = append(headers, c.header)
	}
	return header(headers) + text.String()
}

// ratios compares each contestant with the floor.
func (d *data) ratios() string {
	compared := []column{{"writes", "writes", 1}, {"CPU", "cpu_seconds", 1}, {"CPU of the API server", "api_server_cpu_seconds", 1},
		{"heap", "heap_bytes", 1},
		{"time until all are Ready", "seconds", 1}, {"p50 of the time to Ready", "p50_seconds", 1}}
	var text strings.Builder
	headers := []string{"form", "clusters", "contestant"}
	for _, c := range compared {
		headers = append(headers, c.header)
	}
	for _, form := range slices.Sorted(maps.Keys(d.machines)) {
		for _, size := range d.sizes(form, "create") {
			for _, who := range d.contestants(form) {
				if who == floor {
					continue
				}
				if cells, found := d.beside(form, who, size, compared); found {
					row(&text, append([]string{form, strconv.Itoa(size), who}, cells...))
				}
			}
		}
	}
	if text.Len() == 0 {
		return ""
	}
	return header(headers) + text.String()
}

// beside returns figures of a contestant, divided by those of the floor. It returns false if none can be divided.
func (d *data) beside(form, who string, size int, compared []column) (cells []string, found bool) {
	for _, c := range compared {
		own, has := d.figures[key{form, who, "create", c.figure, size}]
		bare := d.figures[key{form, floor, "create", c.figure, size}]
		has = has && bare > 0
		cells, found = append(cells, cell(own/bare, has)), found || has
	}
	return cells, found
}

// machine lists the facts of a run.
func (d *data) machine(form string) string {
	facts := d.machines[form]
	if facts == nil {
		return ""
	}
	var text strings.Builder
	for _, fact := range slices.Sorted(maps.Keys(facts)) {
		row(&text, []string{fact, facts[fact]})
	}
	return header([]string{"fact", "value"}) + text.String()
}

func header(cells []string) string {
	var text strings.Builder
	row(&text, cells)
	text.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
	return text.String()
}

func row(text *strings.Builder, cells []string) {
	text.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// cell formats a number with three significant digits and without an exponent.
func cell(value float64, found bool) string {
	switch {
	case !found:
		return "–"
	case value >= 100 || value <= -100 || value == float64(int64(value)):
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10 || value <= -10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	case value >= 1 || value <= -1:
		return strconv.FormatFloat(value, 'f', 2, 64)
	default:
		return strconv.FormatFloat(value, 'f', 3, 64)
	}
}
