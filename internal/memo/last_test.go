/*
SPDX-License-Identifier: Apache-2.0
*/

package memo

import "testing"

func TestTheLastInputOfEachSubjectIsRemembered(t *testing.T) {
	known, none := &LastInput[string, int]{}, (*LastInput[string, int])(nil)
	for _, l := range []*LastInput[string, int]{known, none} {
		l.Set("a", 1)
		l.Set("a", 2)
	}
	if !known.Is("a", 2) {
		t.Error("the last input is forgotten")
	}
	if known.Is("a", 1) || known.Is("b", 2) || known.Is("b", 0) || none.Is("a", 2) {
		t.Error("another input, another subject, or no memory counts as the last one")
	}
}

func TestTheMemoryOfInputsIsBounded(t *testing.T) {
	known := &LastInput[int, bool]{}
	for i := range 2*mostSubjects + 1 {
		known.Set(i, true)
		if len(known.inputs) > mostSubjects {
			t.Fatalf("%d subjects", len(known.inputs))
		}
	}
}
