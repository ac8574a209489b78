/*
SPDX-License-Identifier: Apache-2.0
*/

package why_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
)

const (
	page     = "../../../../docs/why.md"
	statuses = "../../../../test/sim/testdata/failures"
)

var update = flag.Bool("update", false, "write the outputs into docs/why.md")

// compared are the failures in the order of the page, each with the golden file of test/sim that has the status.
var compared = []string{
	"image", "unschedulable", "crash", "secret", "volume", "destination", "keys", "overdue", "restore", "hook", "name", "parameter",
}

// explained is what kubectl dbc why finds for a status that the operator wrote in a simulated failure.
func explained(t *testing.T, name string) (why.Verdict, why.Cause) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(statuses, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	first, rest, _ := strings.Cut(string(content), "---\n")
	cluster := &dbv1.DatabaseCluster{}
	if err := yaml.UnmarshalStrict([]byte(first), cluster); err != nil {
		t.Fatal(err)
	}
	verdict, cause := why.Explain(cluster)
	if verdict != why.Healthy || rest == "" {
		return verdict, cause
	}
	var backups []dbv1.DatabaseBackup
	for document := range strings.SplitSeq(rest, "---\n") {
		backup := dbv1.DatabaseBackup{}
		if err := yaml.UnmarshalStrict([]byte(document), &backup); err != nil {
			t.Fatal(err)
		}
		backups = append(backups, backup)
	}
	if other, found := why.Together(cluster, why.Current(backups)); found {
		return why.Unhealthy, other
	}
	return verdict, cause
}

// cell is a cause in a table of Markdown.
func cell(cause why.Cause) string {
	return fmt.Sprintf("%s<br>[%s](%s)<br>%#q", strings.ReplaceAll(cause.Sentence(), "|", "\\|"), strings.TrimSuffix(cause.Page, ".md"), cause.Page, cause.Command)
}

// The second column of the table in docs/why.md is the output of the command, with its page as a link.
func TestThePageShowsTheOutputForEachFailure(t *testing.T) {
	content, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, table, found := strings.Cut(string(content), "| failure | `kubectl dbc why orders` |")
	if !found {
		t.Fatalf("%s has no table of failures", page)
	}
	lines, row := strings.Split(table, "\n"), 0
	for i, line := range lines {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || strings.HasPrefix(line, " ") {
			continue
		}
		if row == len(compared) {
			t.Fatalf("more than %d rows", row)
		}
		verdict, cause := explained(t, compared[row])
		if verdict != why.Unhealthy {
			t.Errorf("%s: the exit code is %d: %s", compared[row], verdict, cause.Sentence())
		}
		if want := cell(cause); cells[1] != want && !*update {
			t.Errorf("row %q of %s: go test ./cmd/kubectl-dbc/internal/why -update writes\n%s", cells[0], page, want)
		}
		lines[i] = strings.Join([]string{cells[0], cell(cause), cells[2]}, " | ")
		row++
	}
	if row != len(compared) {
		t.Errorf("%d of %d failures are in the table", row, len(compared))
	}
	if *update {
		whole := before + "| failure | `kubectl dbc why orders` |" + strings.Join(lines, "\n")
		if err := os.WriteFile(page, []byte(whole), 0o644); err != nil { //nolint:gosec // a page of the documentation
			t.Fatal(err)
		}
	}
}
