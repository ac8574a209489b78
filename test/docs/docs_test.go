/*
SPDX-License-Identifier: Apache-2.0
*/

// Package docs holds what people read against what there is: where links lead, and which commands exist.
package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

var (
	links    = regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped  = regexp.MustCompile(`[^a-z0-9 _-]`)
	blocks   = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	spans    = regexp.MustCompile("`[^`]*`")
	// commands are what stands in code and begins with make, up to what is no target.
	commands = regexp.MustCompile("(?m)(?:^|`|&& |PATH=\\$PATH )make((?: +[a-z][a-z0-9-]*)+)(?:[ `]|$)")
	targets  = regexp.MustCompile(`(?m)^([a-z0-9-]+):`)
)

// pages are all documents by their path from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/runbooks/*.md", "hack/local/*.md", ".github/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all[file] = string(content)
		}
	}
	if len(all) < 15 {
		t.Fatalf("there are only %d pages", len(all))
	}
	return all
}

// anchors are what GitHub makes of the headings of a page.
func anchors(content string) map[string]bool {
	all := map[string]bool{"": true}
	for _, heading := range headings.FindAllStringSubmatch(blocks.ReplaceAllString(content, ""), -1) {
		all["#"+strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")] = true
	}
	return all
}

func TestTheLinksOfTheDocumentsLeadSomewhere(t *testing.T) {
	for page, content := range pages(t) {
		for _, link := range links.FindAllStringSubmatch(spans.ReplaceAllString(blocks.ReplaceAllString(content, ""), ""), -1) {
			target := page
			if link[1] != "" {
				target = filepath.Join(filepath.Dir(page), link[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if link[2] == "" {
				continue
			}
			if linked, err := os.ReadFile(target); err != nil || !anchors(string(linked))[link[2]] {
				t.Errorf("%s leads to %s%s, which is not there (%v)", page, link[1], link[2], err)
			}
		}
	}
}

func TestEveryMakeTargetThatADocumentNamesExists(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, target := range targets.FindAllStringSubmatch(string(makefile), -1) {
		known[target[1]] = true
	}
	named := map[string]bool{}
	for page, content := range pages(t) {
		for _, command := range commands.FindAllStringSubmatch(content, -1) {
			for target := range strings.FieldsSeq(command[1]) {
				named[target] = true
				if !known[target] {
					t.Errorf("%s says make %s, and there is no such target", page, target)
				}
			}
		}
	}
	if len(named) < 20 {
		t.Errorf("only %d targets were found in the documents: %v", len(named), named)
	}
}
