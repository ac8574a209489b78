/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// picture is a plot of figures against the number of clusters, with one line for each contestant and figure.
type picture struct {
	name, title, axis string
	phase             string
	figures           []column
}

func (p picture) file(form string) string { return form + "-" + p.name + ".svg" }

var pictures = []picture{
	{"writes", "Writes per cluster, from its creation to Ready", "writes", "create", []column{{"", "writes", 1}}},
	{"cpu", "CPU time per cluster, from its creation to Ready", "ms", "create", []column{{"", "cpu_seconds", milli}}},
	{"heap", "Heap per cluster", "KB", "create", []column{{"", "heap_bytes", kilo}}},
	{"ready", "Time from the creation of a cluster to Ready", "s", "create", []column{{"p50", "p50_seconds", 1}, {"p99", "p99_seconds", 1}}},
	{"idle", "CPU time of the idle operator in an hour", "s", "rest", []column{{"", "cpu_seconds_per_hour", 1}}},
	{"drift", "Time to repair a changed object", "ms", "drift", []column{{"p50", "p50_seconds", milli}, {"p99", "p99_seconds", milli}}},
	{"restart", "Time from a restart of the operator until the first passes are over", "s", "restart", []column{{"", "passed_seconds", 1}}},
	{"memory", "Peak resident memory after a restart of the operator", "MB", "restart", []column{{"", "peak_resident_bytes", mega}}},
}

// plots embeds the plots, which are beside the document.
func (d *data) plots() string {
	var markdown strings.Builder
	for _, form := range slices.Sorted(maps.Keys(d.machines)) {
		for _, p := range pictures {
			for _, who := range d.contestants(form) {
				if len(d.points(key{form, who, p.phase, p.figures[0].figure, 0}, 1)) > 1 {
					fmt.Fprintf(&markdown, "![%s](%s)\n\n", p.title, p.file(form))
					break
				}
			}
		}
	}
	return markdown.String()
}

// draw writes the plots of all forms with at least two sizes.
func (d *data) draw(dir string) error {
	for form := range d.machines {
		for _, p := range pictures {
			if err := d.picture(form, p, filepath.Join(dir, p.file(form))); err != nil {
				return fmt.Errorf("draw %s: %w", p.name, err)
			}
		}
	}
	return nil
}

func (d *data) picture(form string, p picture, file string) error {
	sizes := d.sizes(form, p.phase)
	drawing := plot.New()
	drawing.Title.Text = p.title
	drawing.X.Label.Text = "clusters"
	drawing.Y.Label.Text = p.axis
	drawing.Legend.Top, drawing.Legend.Left = true, true
	name(drawing)
	drawing.Add(plotter.NewGrid())
	drawn := 0
	for n, who := range d.contestants(form) {
		for style, c := range p.figures {
			points := d.points(key{form, who, p.phase, c.figure, 0}, c.factor)
			if len(points) < 2 {
				continue
			}
			line, dots, err := plotter.NewLinePoints(points)
			if err != nil {
				return err
			}
			line.Color, dots.Color = plotutil.Color(n), plotutil.Color(n)
			line.Dashes = plotutil.Dashes(style)
			drawing.Add(line, dots)
			drawing.Legend.Add(strings.TrimSpace(who+" "+c.header), line, dots)
			drawn++
		}
	}
	if drawn == 0 {
		return nil
	}
	drawing.X.Scale = plot.LogScale{}
	drawing.X.Tick.Marker = ticks(sizes)
	drawing.Y.Min = 0
	drawing.X.Max *= 1.4 // space for the last label
	drawing.Y.Max *= 1.3 // space for the legend
	return save(drawing, file)
}

// name sets a font that browsers have.
func name(drawing *plot.Plot) {
	for _, style := range []*text.Style{
		&drawing.Title.TextStyle, &drawing.X.Label.TextStyle, &drawing.Y.Label.TextStyle, &drawing.X.Tick.Label, &drawing.Y.Tick.Label,
		&drawing.Legend.TextStyle,
	} {
		style.Font.Variant = "Sans"
	}
}

func save(drawing *plot.Plot, file string) error {
	picture, err := drawing.WriterTo(16*vg.Centimeter, 10*vg.Centimeter, "svg")
	if err != nil {
		return err
	}
	var svg bytes.Buffer
	if _, err := picture.WriteTo(&svg); err != nil {
		return err
	}
	return write(svg.Bytes(), file)
}

// write names fonts that browsers have.
func write(svg []byte, file string) error {
	named := bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,sans-serif"))
	return os.WriteFile(file, named, 0o644) //nolint:gosec // a picture that everyone may read
}

// points returns a figure at all sizes.
func (d *data) points(k key, factor float64) plotter.XYs {
	var points plotter.XYs
	for _, size := range d.sizes(k.Form, k.Phase) {
		k.Clusters = size
		if value, found := d.figures[k]; found {
			points = append(points, plotter.XY{X: float64(size), Y: value * factor})
		}
	}
	return points
}

// ticks marks the sizes.
func ticks(sizes []int) plot.ConstantTicks {
	var marks plot.ConstantTicks
	for _, size := range sizes {
		marks = append(marks, plot.Tick{Value: float64(size), Label: strconv.Itoa(size)})
	}
	return marks
}
