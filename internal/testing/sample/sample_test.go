/*
SPDX-License-Identifier: Apache-2.0
*/

package sample

import (
	"slices"
	"strconv"
	"testing"
)

func TestASampleHasSomeOfEachKindAndIsTheSameEachTime(t *testing.T) {
	t.Setenv("DBC_WHOLE", "")
	t.Setenv("DBC_SEED", "7")
	all := []int{1, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 200}
	digits := func(n int) int { return len(strconv.Itoa(n)) }
	chosen := OneIn(4, "story", all, digits)
	if len(chosen) != 5 || !slices.Contains(chosen, 1) || !slices.Contains(chosen, 200) {
		t.Errorf("chosen are %v", chosen)
	}
	if again := OneIn(4, "story", all, digits); !slices.Equal(again, chosen) {
		t.Errorf("first %v, then %v", chosen, again)
	}
	t.Setenv("DBC_SEED", "8")
	if other := OneIn(4, "story", all, digits); slices.Equal(other, chosen) {
		t.Errorf("another seed gives %v, too", other)
	}
	t.Setenv("DBC_WHOLE", "1")
	if whole := OneIn(4, "story", all, digits); !slices.Equal(whole, all) {
		t.Errorf("the whole is %v", whole)
	}
}
