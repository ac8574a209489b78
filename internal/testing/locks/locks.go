/*
SPDX-License-Identifier: Apache-2.0
*/

// Package locks reads which processes wait for a lock on a file.
package locks

import (
	"os"
	"strconv"
	"strings"
)

// Waiting returns the processes that wait for a lock of flock(2).
func Waiting() ([]int, error) {
	text, err := os.ReadFile("/proc/locks")
	return waiting(string(text)), err
}

// waiting reads lines such as "2: -> FLOCK  ADVISORY  WRITE 1300 08:02:131 0 EOF". A line without an arrow is a lock that a process has.
func waiting(text string) []int {
	var all []int
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) < 6 || words[1] != "->" || words[2] != "FLOCK" {
			continue
		}
		if pid, err := strconv.Atoi(words[5]); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
