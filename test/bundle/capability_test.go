/*
SPDX-License-Identifier: Apache-2.0
*/

package bundle

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// criterion is a row of docs/capability.md.
type criterion struct {
	name  string
	met   bool
	tests []evidence
}

// evidence is a test in a row.
type evidence struct{ name, file string }

// level is a section of docs/capability.md.
type level struct {
	name     string
	criteria []criterion
}

var (
	sections = regexp.MustCompile(`(?m)^## Level ([1-5]): (.+)$`)
	rows     = regexp.MustCompile(`(?m)^\| (.+?) \| (yes|no) \|(.*)\|$`)
	links    = regexp.MustCompile(`\[(Test\w+)\]\(\.\./([^)]+)\)`)
	claims   = regexp.MustCompile(`(?m)^\*\*Claimed: (.+)\.\*\*$`)
)

func levels(document string) []level {
	var all []level
	texts := sections.Split(document, -1)
	for i, heading := range sections.FindAllStringSubmatch(document, -1) {
		l := level{name: heading[2]}
		for _, row := range rows.FindAllStringSubmatch(texts[i+1], -1) {
			c := criterion{name: row[1], met: row[2] == "yes"}
			for _, link := range links.FindAllStringSubmatch(row[3], -1) {
				c.tests = append(c.tests, evidence{link[1], link[2]})
			}
			l.criteria = append(l.criteria, c)
		}
		all = append(all, l)
	}
	return all
}

// highest returns the highest level at which that level and all lower ones are met. The first level is the minimum.
func highest(all []level) string {
	reached := all[0].name
	for _, l := range all {
		if slices.ContainsFunc(l.criteria, func(c criterion) bool { return !c.met }) {
			break
		}
		reached = l.name
	}
	return reached
}

func TestTheCapabilityLevelIsTheHighestThatTestsShow(t *testing.T) {
	document := text(t, root+"/docs/capability.md")
	all := levels(document)
	if len(all) != 5 {
		t.Fatalf("docs/capability.md has %d levels", len(all))
	}
	claimed := claims.FindStringSubmatch(document)
	if claimed == nil || claimed[1] != highest(all) {
		t.Errorf("docs/capability.md claims %q, and its tables show %s", claimed, highest(all))
	}
	if is := load(t).CSV.Annotations["capabilities"]; is != highest(all) {
		t.Errorf("the CSV claims %s, and docs/capability.md shows %s", is, highest(all))
	}
}

func TestEveryCriterionThatIsMetNamesTestsThatExist(t *testing.T) {
	for _, l := range levels(text(t, root+"/docs/capability.md")) {
		if len(l.criteria) < 5 {
			t.Errorf("%s has %d criteria", l.name, len(l.criteria))
		}
		for _, c := range l.criteria {
			if c.met != (len(c.tests) > 0) {
				t.Errorf("%s: %q is met: %t, and is shown by %d tests", l.name, c.name, c.met, len(c.tests))
			}
			for _, e := range c.tests {
				if file := text(t, path.Join(root, e.file)); !strings.Contains(file, "\nfunc "+e.name+"(t *testing.T)") {
					t.Errorf("%s: %s has no test %s", l.name, e.file, e.name)
				}
			}
		}
	}
}

func TestALevelIsReachedOnlyWhenAllBelowItAre(t *testing.T) {
	met, not := []criterion{{met: true}}, []criterion{{met: true}, {met: false}}
	for want, all := range map[string][]level{
		"one":   {{"one", not}, {"two", met}, {"three", met}},
		"two":   {{"one", met}, {"two", met}, {"three", not}},
		"three": {{"one", met}, {"two", met}, {"three", met}},
	} {
		if got := highest(all); got != want {
			t.Errorf("the level is %s, want %s", got, want)
		}
	}
}
