/*
SPDX-License-Identifier: Apache-2.0
*/

// Package text renders tables, ages and sizes for a terminal or for a file.
package text

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Tone is the meaning of a text, which a terminal shows as a color.
type Tone int

// Tones of a text.
const (
	Plain Tone = iota
	Good
	Warning
	Bad
	Heading
)

// codes are the ANSI escape sequences of the tones.
var codes = map[Tone]string{Good: "\x1b[32m", Warning: "\x1b[33m", Bad: "\x1b[31m", Heading: "\x1b[1m"}

// Cell is a text with its tone.
type Cell struct {
	Text string
	Tone Tone
}

// Cells are texts without a tone.
func Cells(texts ...string) []Cell {
	row := make([]Cell, len(texts))
	for i, t := range texts {
		row[i] = Cell{Text: t}
	}
	return row
}

// Palette is true if colors are shown.
type Palette bool

// Paint is a text in the color of its tone.
func (p Palette) Paint(text string, tone Tone) string {
	code, colored := codes[tone]
	if !bool(p) || !colored || text == "" {
		return text
	}
	return code + text + "\x1b[0m"
}

// Table renders rows in columns. The last column of a row is not padded.
func (p Palette) Table(indent string, rows [][]Cell) string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell.Text))
		}
	}
	var all strings.Builder
	for _, row := range rows {
		all.WriteString(indent + strings.TrimRight(p.line(row, widths), " ") + "\n")
	}
	return all.String()
}

func (p Palette) line(row []Cell, widths []int) string {
	var line strings.Builder
	for i, cell := range row {
		line.WriteString(p.Paint(cell.Text, cell.Tone))
		if i < len(row)-1 {
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell.Text)+3))
		}
	}
	return line.String()
}

// Age is the time between two moments in a readable form, such as 12m or 3d4h. It is "-" without the first one.
func Age(since, now time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return Duration(now.Sub(since))
}

// Duration is a duration in a readable form.
func Duration(d time.Duration) string { return duration.HumanDuration(max(d, 0)) }

// Bytes is a size in a readable form, such as 1.2 GiB.
func Bytes(n int64) string {
	units := []string{"KiB", "MiB", "GiB", "TiB", "PiB"}
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	size, unit := float64(n)/1024, 0
	for size >= 1024 && unit < len(units)-1 {
		size, unit = size/1024, unit+1
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}

// Time is a moment in UTC, or "-".
func Time(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format(time.RFC3339)
}
