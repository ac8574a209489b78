/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"math"
	"slices"
	"strconv"
)

// key is what was measured, of a contestant.
type key struct{ contestant, what string }

// figures has the values of all rounds.
type figures map[key][]float64

func (f figures) of(c, what string) []float64 {
	return slices.Sorted(slices.Values(f[key{c, what}]))
}

// percentile is the smallest value that is not exceeded by so many percent of the sorted values.
func percentile(sorted []float64, percent float64) float64 {
	at := int(math.Ceil(float64(len(sorted))*percent/100)) - 1
	return sorted[max(0, at)]
}

// median is the middle of the sorted values.
func median(sorted []float64) float64 {
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// spread shows the median, and the smallest and the largest value.
func spread(sorted []float64) string {
	switch len(sorted) {
	case 0:
		return "–"
	case 1:
		return number(sorted[0])
	default:
		return number(median(sorted)) + " (" + number(sorted[0]) + "–" + number(sorted[len(sorted)-1]) + ")"
	}
}

// number shows three digits, or all before the point.
func number(value float64) string {
	if math.Abs(value) >= 100 || value == math.Trunc(value) {
		return strconv.FormatFloat(math.Round(value), 'f', -1, 64)
	}
	if math.Abs(value) < 0.001 {
		return "0.00"
	}
	digits := max(0, 2-int(math.Floor(math.Log10(math.Abs(value)))))
	return strconv.FormatFloat(value, 'f', min(digits, 4), 64)
}
