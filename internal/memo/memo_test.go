/*
SPDX-License-Identifier: Apache-2.0
*/

package memo

import "testing"

func TestAResultIsComputedOnceUntilTheTableIsFull(t *testing.T) {
	squares, computed := New[int, int](2), 0
	for i, input := range []int{1, 1, 2, 1, 2, 3, 3, 1} {
		if got := squares.Of(input, func() int { computed++; return input * input }); got != input*input {
			t.Errorf("%d: got %d for %d", i, got, input)
		}
	}
	if computed != 4 {
		t.Errorf("computed %d results, want those of 1, 2 and 3, and 1 again because 3 was one too many", computed)
	}
	if len(squares.results) > 2 {
		t.Errorf("%d results", len(squares.results))
	}
}
