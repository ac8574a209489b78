//go:build helm

/*
SPDX-License-Identifier: Apache-2.0
*/

package packaging

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "update the golden files")

// The dashboard is omitted: it equals config/grafana. The CRDs are omitted, too: the comparison with config/default
// covers them.
var dashboard = regexp.MustCompile(`\n  databasecluster\.json: \|-\n(?:    [^\n]*\n?)*`)

func TestTheChartRendersWhatTheGoldenFilesShow(t *testing.T) {
	for _, values := range []string{"default", "standalone", "full"} {
		t.Run(values, func(t *testing.T) {
			got, err := template("--values", filepath.Join(chart, "ci", values+"-values.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("testdata", values+".yaml")
			got = short(got)
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s: %s\n`make helm-golden` updates the golden files; review the diff.", golden, firstDifference(got, string(want)))
			}
		})
	}
}

func short(manifests string) string {
	var kept []string
	for document := range strings.SplitSeq(manifests, "\n---\n") {
		if !strings.Contains(document, "\nkind: CustomResourceDefinition\n") {
			kept = append(kept, dashboard.ReplaceAllString(document, "\n  databasecluster.json: ...\n"))
		}
	}
	return strings.Join(kept, "\n---\n")
}
