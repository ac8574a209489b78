/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"image/color"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// sample is a line of the story about autoscalers in test/e2e.
type sample struct {
	Seconds, Wanted, Ready, ReadyPoolers, LagBytes, PoolErrors, ReplicaErrors float64

	Load bool
	Age  float64
}

// panel is a plot over time.
type panel struct {
	title  string
	lines  []string
	values func(sample) []float64
}

var panels = []panel{
	{"Pods", []string{"spec.replicas of the cluster", "ready members", "ready poolers"}, func(s sample) []float64 {
		return []float64{s.Wanted, s.Ready, s.ReadyPoolers}
	}},
	{"Errors of clients since the start", []string{"through the pooler", "of direct connections to the replicas"}, func(s sample) []float64 {
		return []float64{s.PoolErrors, s.ReplicaErrors}
	}},
	{"Replication", []string{"lag on the primary (MiB)", "age of the oldest answer of a replica (s)"}, func(s sample) []float64 {
		return []float64{s.LagBytes / (1 << 20), s.Age}
	}},
}

// drawAutoscaling draws the samples of a file, with a gray background while there was load.
func drawAutoscaling(from, to string) error {
	samples, err := readSamples(from)
	if err != nil {
		return err
	}
	const width, height = 18 * vg.Centimeter, 7 * vg.Centimeter
	canvas := vgsvg.New(width, height*vg.Length(len(panels)))
	tiles := draw.Tiles{Rows: len(panels), Cols: 1, PadY: vg.Millimeter * 4}
	grid := make([][]*plot.Plot, len(panels))
	for i, p := range panels {
		drawing, err := p.draw(samples)
		if err != nil {
			return err
		}
		grid[i] = []*plot.Plot{drawing}
	}
	for i, row := range plot.Align(grid, tiles, draw.New(canvas)) {
		grid[i][0].Draw(row[0])
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	return write(svg.Bytes(), to)
}

func readSamples(file string) ([]sample, error) {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names the file
	if err != nil {
		return nil, fmt.Errorf("read the samples: %w", err)
	}
	var all []sample
	for row := range strings.Lines(string(text)) {
		var s sample
		if err := json.Unmarshal([]byte(row), &s); err != nil {
			return nil, fmt.Errorf("read the samples in %s: %w", file, err)
		}
		all = append(all, s)
	}
	if len(all) < 2 {
		return nil, errors.New(file + " has less than two samples")
	}
	return all, nil
}

func (p panel) draw(samples []sample) (*plot.Plot, error) {
	drawing := plot.New()
	drawing.Title.Text, drawing.X.Label.Text = p.title, "seconds"
	drawing.Legend.Top, drawing.Legend.Left = true, true
	name(drawing)
	lines := make([]plotter.XYs, len(p.lines))
	highest := 1.0
	for _, s := range samples {
		for i, value := range p.values(s) {
			lines[i] = append(lines[i], plotter.XY{X: s.Seconds, Y: value})
			highest = max(highest, value)
		}
	}
	highest *= 1.6 // space for the legend
	if err := shade(drawing, samples, highest); err != nil {
		return nil, err
	}
	for i, points := range lines {
		line, err := plotter.NewLine(points)
		if err != nil {
			return nil, err
		}
		line.StepStyle, line.Color, line.Width, line.Dashes = plotter.PostStep, plotutil.Color(i), vg.Points(1.5), plotutil.Dashes(i)
		drawing.Add(line)
		drawing.Legend.Add(p.lines[i], line)
	}
	drawing.Y.Min, drawing.Y.Max = 0, highest
	return drawing, nil
}

// shade paints the times with load.
func shade(drawing *plot.Plot, samples []sample, height float64) error {
	for i, s := range samples[:len(samples)-1] {
		if !s.Load {
			continue
		}
		until := samples[i+1].Seconds
		area, err := plotter.NewPolygon(plotter.XYs{{X: s.Seconds}, {X: s.Seconds, Y: height}, {X: until, Y: height}, {X: until}})
		if err != nil {
			return err
		}
		area.Color, area.Width = color.Gray{Y: 232}, 0
		drawing.Add(area)
	}
	return nil
}
