/*
SPDX-License-Identifier: Apache-2.0
*/

package olm

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// matches returns the first group of every match in a file, sorted.
func matches(t *testing.T, file, pattern string) []string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
		all = append(all, match[1])
	}
	slices.Sort(all)
	return all
}

func TestTheDocumentNamesEveryReasonOfUpgradeableAndNoOther(t *testing.T) {
	code := matches(t, "flight.go", `(?m)^\tReason\w+ += "(\w+)"$`)
	table := matches(t, "../../docs/olm.md", "(?m)^\\| (?:True|False), `(\\w+)` \\|")
	if len(code) == 0 || !slices.Equal(code, table) {
		t.Errorf("docs/olm.md has the reasons %v, and the code %v", table, code)
	}
}
