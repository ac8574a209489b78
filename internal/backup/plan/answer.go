/*
SPDX-License-Identifier: Apache-2.0
*/

package plan

import (
	"strings"
	"unicode"

	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// unanswered separates the status of the Job from the last answer of the copy.
const unanswered = "; the copy has not answered: "

// withAnswer appends the last answer of the copy to the status of a verification Job. If only numbers such as times
// differ, the previous text remains: a text that changes by itself would cause a status write each time.
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

// withDatabase appends the observed problem of the copy's database, whose logs are deleted with its pod.
func withDatabase(cause, seen string) string {
	if !strings.Contains(seen, "container "+naming.Container+":") || strings.Contains(cause, seen) {
		return cause
	}
	return cause + " Seen before: " + seen
}
