//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

// Package faults disturbs a database under load on the local node, with the operator and without it. Clients write
// numbered rows, and every acknowledged row must be there afterward. `make test-faults` runs it.
package faults

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// The arguments of `make test-faults`.
var (
	image = cmp.Or(os.Getenv("DBC_TEST_PATRONI_IMG"), "localhost/postgresql-patroni:17")
	// s3Image is that of the S3 server.
	s3Image = cmp.Or(os.Getenv("VERSITYGW_IMG"), "localhost/versitygw:1.0.14")
	// selected are the names of faults, or empty for all.
	selected    = words("DBC_FAULT", "")
	synchronous = words("DBC_SYNCHRONOUS", "on off")
	// wholeNode allows faults of the node and of the operator, which disturb other users of the node.
	wholeNode = os.Getenv("DBC_WHOLE_NODE") != ""
	operator  = words("DBC_OPERATOR", map[bool]string{true: "on off", false: "on paused"}[wholeNode])
	runs      = number("DBC_RUNS", 1)
	// moments is how many moments of each run are recovered, and kills how many processes the fault kills ends.
	moments = number("DBC_MOMENTS", 20)
	kills   = number("DBC_KILLS", 60)
	seed    = int64(number("DBC_SEED", 1))
	output  = cmp.Or(os.Getenv("DBC_OUTPUT"), "../../dist/faults")
)

func words(variable, otherwise string) []string {
	return strings.Fields(strings.ReplaceAll(cmp.Or(os.Getenv(variable), otherwise), ",", " "))
}

// parameters are those of a cluster. PARAMETERS adds others, for example wal_sender_timeout=10s.
func parameters(synchronous string) map[string]string {
	all := map[string]string{"synchronous": synchronous, "shared_buffers": "32MB"}
	for _, word := range words("DBC_PARAMETERS", "") {
		name, value, _ := strings.Cut(word, "=")
		all[name] = value
	}
	return all
}

func number(variable string, otherwise int) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv(variable), strconv.Itoa(otherwise)))
	if err != nil {
		panic(variable + ": " + err.Error())
	}
	return n
}

func TestMain(m *testing.M) {
	for _, program := range []string{"kubectl", "nsenter", "nft"} {
		if _, err := exec.LookPath(program); err != nil || os.Geteuid() != 0 {
			fmt.Fprintf(os.Stderr, "fault tests need root and the program %s: run `make test-faults` on the node\n", program)
			os.Exit(1)
		}
	}
	if err := os.MkdirAll(output, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	write("faults", results, lab.Markdown)
	write("archive-faults", archiveResults, lab.ArchiveMarkdown)
	os.Exit(code)
}

// write writes the table of a campaign that ran.
func write[R any](name string, results []R, markdown func([]R) string) {
	if len(results) > 0 {
		table := markdown(results)
		fmt.Print("\n" + table)
		_ = os.WriteFile(filepath.Join(output, name+".md"), []byte(table), 0o644)
	}
}

// results and archiveResults are all runs of faults.
var (
	results        []lab.Result
	archiveResults []lab.ArchiveResult
)

func record(t *testing.T, result lab.Result) {
	results = append(results, result)
	if err := lab.Append(filepath.Join(output, "faults.jsonl"), result); err != nil {
		t.Error(err)
	}
}

func recordArchive(t *testing.T, result lab.ArchiveResult) {
	archiveResults = append(archiveResults, result)
	if err := lab.Append(filepath.Join(output, "archive-faults.jsonl"), result); err != nil {
		t.Error(err)
	}
}

func wanted(name string) bool { return len(selected) == 0 || slices.Contains(selected, name) }
