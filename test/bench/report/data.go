/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// floor is the contestant that all others are compared with.
const floor = "floor"

// members is the number of members of each cluster after its creation.
const members = 3

// key is a figure without its round.
type key struct {
	Form, Who, Phase, Figure string
	Clusters                 int
}

// data are the figures of one run: the median of all rounds.
type data struct {
	figures  map[key]float64
	machines map[string]map[string]string // by form
}

// line is a line of the raw data.
type line struct {
	key
	Round   int
	Value   float64
	Machine map[string]string
}

// read reads the raw data of a directory.
func read(dir string) (*data, error) {
	d := &data{figures: map[key]float64{}, machines: map[string]map[string]string{}}
	all := map[key][]float64{}
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // the caller names the directory
		if err != nil {
			return nil, fmt.Errorf("read the raw data: %w", err)
		}
		for row := range strings.Lines(string(text)) {
			var l line
			if err := json.Unmarshal([]byte(row), &l); err != nil {
				return nil, fmt.Errorf("read the raw data in %s: %w", file, err)
			}
			if l.Machine != nil {
				d.describe(l.Machine)
			} else if l.Form != "" { // the directory can have raw data of other benchmarks
				all[l.key] = append(all[l.key], l.Value)
			}
		}
	}
	for k, values := range all {
		d.figures[k] = median(values)
	}
	d.withoutMembers()
	return d, nil
}

// describe adds facts to those of a form.
func (d *data) describe(facts map[string]string) {
	form := facts["form"]
	if d.machines[form] == nil {
		d.machines[form] = map[string]string{}
	}
	maps.Copy(d.machines[form], facts)
}

func median(values []float64) float64 {
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return values[middle]
	}
	return (values[middle-1] + values[middle]) / 2
}

// withoutMembers subtracts the heap for members from the heap for a cluster. More members were added at one size only.
func (d *data) withoutMembers() {
	perMember := map[key]float64{}
	for k, value := range d.figures {
		if k.Figure == "heap_bytes_per_member" {
			perMember[key{Form: k.Form, Who: k.Who}] = value
		}
	}
	for k, value := range maps.Clone(d.figures) {
		member, found := perMember[key{Form: k.Form, Who: k.Who}]
		if k.Phase == "create" && k.Figure == "heap_bytes" && found {
			k.Figure = "heap_bytes_without_members"
			d.figures[k] = value - members*member
		}
	}
}

// sizes returns the numbers of clusters at which a form has figures of a phase.
func (d *data) sizes(form, phase string) []int {
	found := map[int]bool{}
	for k := range d.figures {
		if k.Form == form && k.Phase == phase {
			found[k.Clusters] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// contestants returns all contestants of a form: this operator, an older commit of it, the floor, others.
func (d *data) contestants(form string) []string {
	found := map[string]bool{}
	for k := range d.figures {
		if k.Form == form {
			found[k.Who] = true
		}
	}
	rank := map[string]int{operator: -3, before: -2, floor: -1}
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		if rank[a] != rank[b] {
			return rank[a] - rank[b]
		}
		return strings.Compare(a, b)
	})
}
