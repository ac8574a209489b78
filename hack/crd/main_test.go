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
