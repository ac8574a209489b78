/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Contestants with a part of their own: this operator, and an older commit of it.
const (
	operator = "operator"
	before   = "before"
)

// aim is a figure of the operator with its limit in each form.
type aim struct {
	text     string
	limits   map[string]float64 // by form; infinite: the figure is only reported
	phase    string
	figure   string
	factor   float64
	ratio    bool // divided by the floor
	clusters int  // the number for which the aim applies; 0: each number, so the worst figure counts
}

var reported = math.Inf(1)

func both(limit float64) map[string]float64 { return map[string]float64{"thin": limit, "full": limit} }

func inThin(limit float64) map[string]float64 { return map[string]float64{"thin": limit} }

var aims = []aim{
	{text: "writes a cluster, creation to Ready", limits: map[string]float64{"thin": 7, "full": 9}, phase: "create", figure: "writes",
		factor: 1},
	{text: "reads a cluster, creation to Ready", limits: both(0), phase: "create", figure: "reads", factor: 1},
	{text: "responses of 409 a cluster", limits: map[string]float64{"thin": 0, "full": 0.1}, phase: "create", figure: "conflicts", factor: 1},
	{text: "CPU a cluster, divided by the floor's", limits: both(2), phase: "create", figure: "cpu_seconds", factor: 1, ratio: true,
		clusters: 1000},
	{text: "heap a cluster without its members, KB", limits: both(25), phase: "create", figure: "heap_bytes_without_members", factor: kilo,
		clusters: 1000},
	{text: "writes for a rollout of three members", limits: map[string]float64{"full": 9}, phase: "rollout", figure: "writes", factor: 1},
	{text: "repair of a drift, p99, ms", limits: inThin(100), phase: "drift", figure: "p99_seconds", factor: milli, clusters: 1000},
	{text: "writes after a restart of the operator", limits: inThin(0), phase: "restart", figure: "writes", factor: 1},
	{text: "requests for clusters after a restart", limits: inThin(0), phase: "restart", figure: "requests_for_idle_clusters", factor: 1},
	{text: "seconds from a restart until the first passes are over", limits: inThin(reported), phase: "restart", figure: "passed_seconds",
		factor: 1},
	{text: "peak resident memory after a restart, MB", limits: inThin(reported), phase: "restart", figure: "peak_resident_bytes",
		factor: mega},
}

// aims compares the figures of this operator with their limits, and with an older commit of the same run.
func (d *data) aims() string {
	var text strings.Builder
	for _, form := range []string{"thin", "full"} {
		for _, a := range aims {
			if cells := d.aim(a, form); cells != nil {
				row(&text, cells)
			}
		}
	}
	if text.Len() == 0 {
		return ""
	}
	return header([]string{"figure", "form", "aim", "before", "now", "clusters", "reached"}) + text.String()
}

// aim returns the row of an aim, or nothing if there is no figure. Before and now have the same number of clusters, unless
// the older commit took part at fewer.
func (d *data) aim(a aim, form string) []string {
	limit, has := a.limits[form]
	now, size, found := d.decisive(a, form, operator, math.MaxInt)
	if !has || !found {
		return nil
	}
	older, olderSize, olderFound := d.decisive(a, form, before, size)
	cells := []string{a.text, form, fmt.Sprintf("%v or less", limit), cell(older, olderFound), cell(now, true), fmt.Sprint(size), "no"}
	switch limit {
	case reported:
		cells[2], cells[6] = "–", "–"
	case 0:
		cells[2] = "0"
	}
	if olderFound && olderSize != size {
		cells[3] += fmt.Sprintf(" (at %d clusters)", olderSize)
	}
	if limit != reported && now <= limit {
		cells[6] = "yes"
	}
	return cells
}

// decisive returns the figure that decides about an aim, at no more than a number of clusters: the one at the aim's own number, otherwise
// the worst one. A figure that is only reported, and that of the older commit, is the one at the largest number.
func (d *data) decisive(a aim, form, who string, most int) (value float64, size int, found bool) {
	if a.clusters != 0 {
		most = min(most, a.clusters)
	}
	onlyLast := a.clusters != 0 || a.limits[form] == reported || who != operator
	for _, n := range slices.Backward(d.sizes(form, a.phase)) {
		at, has := d.at(a, form, who, n)
		if n > most || !has || found && at <= value {
			continue
		}
		value, size, found = at, n, true
		if onlyLast {
			break
		}
	}
	return value, size, found
}

// at returns the figure of an aim at a number of clusters.
func (d *data) at(a aim, form, who string, size int) (value float64, found bool) {
	value, found = d.figures[key{form, who, a.phase, a.figure, size}]
	if a.ratio {
		base := d.figures[key{form, floor, a.phase, a.figure, size}]
		value, found = value/base, found && base > 0
	}
	return value * a.factor, found
}
