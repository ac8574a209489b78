/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import "testing"

func TestADescriptionFlowsAndKeepsItsParagraphsAndLists(t *testing.T) {
	const text = "one is\nwhat it\nis.\n\nAnother\nparagraph:\n- a\n- b\n  c\n* d"
	const want = "one is what it is.\n\nAnother paragraph:\n- a\n- b\n  c\n* d"
	if got := flowing(text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAnAddressRangeIsBounded(t *testing.T) {
	cidr := map[string]any{"type": "string"}
	narrow(map[string]any{"properties": map[string]any{"cidr": cidr}})
	if cidr["maxLength"] != 49 {
		t.Errorf("got %v", cidr)
	}
}
