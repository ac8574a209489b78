/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// say prints the current step.
func say(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", arguments...)
}

// figure prints one figure.
func figure(value float64, name string, arguments ...any) {
	fmt.Printf("%s %s\n", fmt.Sprintf(name, arguments...), number(value))
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
