/*
SPDX-License-Identifier: Apache-2.0
*/

package resources

import (
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAComparisonIsRememberedForItsClusterAndItsInputs(t *testing.T) {
	known, none := &Comparisons{}, (*Comparisons)(nil)
	for _, c := range []*Comparisons{known, none} {
		c.Agree("a", "1")
		c.Agree("a", "2")
	}
	if !known.Agreed("a", "2") {
		t.Error("the last comparison is forgotten")
	}
	if known.Agreed("a", "1") || known.Agreed("b", "2") || none.Agreed("a", "2") {
		t.Error("other inputs, another cluster, or no memory count as compared")
	}
}

func TestTheMemoryOfComparisonsIsBounded(t *testing.T) {
	known := &Comparisons{}
	for i := range 2*mostComparisons + 1 {
		known.Agree(types.UID(strconv.Itoa(i)), "1")
		if len(known.inputs) > mostComparisons {
			t.Fatalf("%d clusters", len(known.inputs))
		}
	}
}
