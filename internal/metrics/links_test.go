/*
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	links    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped  = regexp.MustCompile(`[^a-z0-9 _-]`)
)

// anchors are what GitHub makes of the headings of a page.
func anchors(content []byte) map[string]bool {
	all := map[string]bool{"": true}
	for _, heading := range headings.FindAllStringSubmatch(string(content), -1) {
		all["#"+strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	return all
}

func TestTheLinksOfTheRunbooksLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "runbooks", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range append(pages, filepath.Join("..", "..", "docs", "metrics.md")) {
		content, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(string(content), -1) {
			target := filepath.Join(filepath.Dir(page), link[1])
			if link[2] == "" {
				if _, err := os.Stat(target); err != nil {
					t.Errorf("%s: %v", page, err)
				}
				continue
			}
			if linked, err := os.ReadFile(target); err != nil || !anchors(linked)[link[2]] {
				t.Errorf("%s leads to %s%s, which is not there (%v)", page, link[1], link[2], err)
			}
		}
	}
}
