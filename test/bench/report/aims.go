/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"slices"
	"strings"
)

// aim is a figure of the operator with its limit in both forms.
type aim struct {
	text       string
	thin, full string // the limits; empty: the form has none
	phase      string
	figure     string
	factor     float64
	ratio      bool // divided by the floor
	clusters   int  // 0: the largest number
}

var aims = []aim{
	{text: "writes a cluster, from its creation to Ready", thin: "7", full: "9", phase: "create", figure: "writes", factor: 1},
	{text: "reads a cluster, from its creation to Ready", thin: "0", full: "0", phase: "create", figure: "reads", factor: 1},
	{text: "responses of 409 a cluster", thin: "0", full: "0.1", phase: "create", figure: "conflicts", factor: 1},
	{text: "CPU a cluster, divided by the floor's", thin: "2", full: "2", phase: "create", figure: "cpu_seconds", factor: 1, ratio: true},
	{text: "heap a cluster without its members, KB", thin: "25", full: "25", phase: "create", figure: "heap_bytes_without_members", factor: kilo},
	{text: "writes for a rollout of three members", full: "9", phase: "rollout", figure: "writes", factor: 1},
	{text: "repair of a drift, p99, ms", thin: "100", phase: "drift", figure: "p99_seconds", factor: milli, clusters: 1000},
	{text: "requests for clusters after a restart of the operator", thin: "0", phase: "restart", figure: "requests_for_idle_clusters", factor: 1},
	{text: "seconds from a restart until the first passes are over", thin: "–", phase: "restart", figure: "passed_seconds", factor: 1},
	{text: "peak resident memory after a restart, MB", thin: "–", phase: "restart", figure: "peak_resident_bytes", factor: mega},
}

// aims compares the figures of this operator with their limits.
func (d *data) aims() string {
	var text strings.Builder
	for _, a := range aims {
		thin, full := d.reached(a, "thin", a.thin), d.reached(a, "full", a.full)
		if thin != "" || full != "" {
			row(&text, []string{a.text, a.thin, thin, a.full, full})
		}
	}
	if text.Len() == 0 {
		return ""
	}
	return header([]string{"figure", "aim, thin", "measured, thin", "aim, full", "measured, full"}) + text.String()
}

// reached returns the figure of a form, and the number of clusters at which it was measured.
func (d *data) reached(a aim, form, limit string) string {
	sizes := d.sizes(form, a.phase)
	if limit == "" || len(sizes) == 0 {
		return ""
	}
	size := sizes[len(sizes)-1]
	if slices.Contains(sizes, a.clusters) {
		size = a.clusters
	}
	value, found := d.figures[key{form, "operator", a.phase, a.figure, size}]
	if !found {
		return ""
	}
	if a.ratio {
		value /= d.figures[key{form, floor, a.phase, a.figure, size}]
	}
	return fmt.Sprintf("%s (%d clusters)", cell(value*a.factor, true), size)
}
