/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"unicode"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// unanswered leads over to what a copy answered to its probe.
const unanswered = "; the copy has not answered: "

// withAnswer adds to what the Job of a verification does what the copy answered last. Where nothing but numbers differ, such
// as times, what was seen before stays: a text that changes by itself would write a status each time.
func withAnswer(now, usual, seen, answer string) string {
	switch {
	case now != usual:
		return now
	case answer == "" && strings.HasPrefix(seen, usual+unanswered):
		return seen
	case answer == "":
		return usual
	}
	now = usual + unanswered + answer
	if withoutNumbers(now) == withoutNumbers(seen) {
		return seen
	}
	return now
}

func withoutNumbers(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, text)
}

// withDatabase adds what was seen of the database of the copy: its logs are deleted with its pod.
func withDatabase(cause, seen string) string {
	if !strings.Contains(seen, "container "+naming.Container+":") || strings.Contains(cause, seen) {
		return cause
	}
	return cause + " Seen before: " + seen
}
