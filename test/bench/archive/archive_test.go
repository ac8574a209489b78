/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
)

// TestMain lets a test run this program as the helper of processes.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "under" {
		fmt.Fprintln(os.Stderr, under(os.Args[2:]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestTheLossIsTheTimeBetweenTheLastAcknowledgedRowAndTheLastRestoredOne(t *testing.T) {
	t.Parallel()
	start := time.Now()
	var rows []committed
	for n := range 10 {
		rows = append(rows, committed{n + 1, start.Add(time.Duration(n) * time.Second)})
	}
	for _, test := range []struct {
		name          string
		restored      []int
		seconds       float64
		lost, missing int
	}{
		{"all", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, 0, 0},
		{"and one that was not acknowledged", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 0, 0, 0},
		{"all but the last three", []int{1, 2, 3, 4, 5, 6, 7}, 3, 3, 0},
		{"one in the middle is missing", []int{1, 2, 4, 5, 6, 7, 8}, 2, 2, 1},
		{"none", nil, 9, 10, 0},
	} {
		seconds, lost, missing := compare(rows, test.restored)
		if seconds != test.seconds || lost != test.lost || missing != test.missing {
			t.Errorf("%s: %g s, %d lost, %d missing", test.name, seconds, lost, missing)
		}
	}
}

func TestAPercentileIsAValueThatWasMeasured(t *testing.T) {
	t.Parallel()
	var hundred []float64
	for n := range 100 {
		hundred = append(hundred, float64(n+1))
	}
	got := []float64{percentile(hundred, 50), percentile(hundred, 99), percentile(hundred, 100), percentile(hundred[:7], 99)}
	if !slices.Equal(got, []float64{50, 99, 100, 7}) {
		t.Errorf("%v", got)
	}
	if median(hundred) != 50.5 || median(hundred[:3]) != 2 {
		t.Errorf("the medians are %g and %g", median(hundred), median(hundred[:3]))
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	t.Parallel()
	var got []string
	for _, value := range []float64{0, 3, 0.000004, 0.0123456, 0.9999, 1.23456, 45.678, 123.4, 45678.9} {
		got = append(got, number(value))
	}
	if want := "0 3 0.00 0.0123 1.000 1.23 45.7 123 45679"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestTheOutputOfPgbenchIsRead(t *testing.T) {
	t.Parallel()
	// The columns of a log: client, number, microseconds, script, second, microsecond, microseconds too late.
	if got := latenciesIn("0 1 2500 0 1764352800 12 500\n1 1 1000 0 1764352800 13 0\nskipped line\n"); !slices.Equal(got, []float64{2, 1}) {
		t.Errorf("%v", got)
	}
	rate, err := rateIn("latency average = 3.1 ms\ntps = 1234.5 (without initial connection time)\n")
	if rate != 1234.5 || err != nil {
		t.Errorf("%g, %v", rate, err)
	}
	if _, err := rateIn("pgbench: error\n"); err == nil {
		t.Error("no rate is no error")
	}
}

func TestATableNamesWhatWasNotMeasured(t *testing.T) {
	t.Parallel()
	b := &bench{settings: settings{absent: map[string]string{"pgbackrest": "pgbackrest is not installed"}}, figures: figures{}}
	b.contestants = b.all()
	for round := range 3 {
		b.figures[key{"pg_receivewal", drainRate}] = append(b.figures[key{"pg_receivewal", drainRate}], float64(100+10*round))
	}
	got := b.render(table{phase: "drain", columns: []column{{"MiB/s", spreadOf(drainRate)}, {"server", spreadOf(cpuServer)}}})
	for _, line := range []string{
		"| | MiB/s | server |\n|---|---|---|\n", "| `pg_receivewal`, to a folder | 110 (100–120) | – |\n",
		"| pgBackRest, asynchronous | not measured: pgbackrest is not installed | |\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("the table lacks %q:\n%s", line, got)
		}
	}
	if strings.Contains(got, titles[nameOfNone]) {
		t.Errorf("a server without an archive has no throughput:\n%s", got)
	}
}

func TestThePageHasOnlyWhatWasMeasured(t *testing.T) {
	t.Parallel()
	b := &bench{settings: settings{folder: t.TempDir(), out: filepath.Join(t.TempDir(), "page.md"), phases: []string{"drain"}, rounds: 3,
		baseGiB: 10, logGiB: 5, lag: time.Second, command: "make bench-archive"}, ctx: t.Context(), figures: figures{}, started: time.Now()}
	b.contestants = b.all()
	if err := b.write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(b.out)
	if err != nil {
		t.Fatal(err)
	}
	got := string(text)
	for _, wrong := range []string{"## Loss", "only a look", "\n\n\n", "<no value>"} {
		if strings.Contains(got, wrong) {
			t.Errorf("the page has %q:\n%s", wrong, got)
		}
	}
	if !strings.Contains(got, "## Throughput") {
		t.Error(got)
	}
}

func TestARatioComparesTheSameRounds(t *testing.T) {
	t.Parallel()
	f := figures{key{"a", throughput}: {50, 90, 30}, key{nameOfNone, throughput}: {100, 100, 60}}
	if got := ratioTo(nameOfNone, throughput)(f, "a"); got != "0.500 (0.500–0.900)" {
		t.Error(got)
	}
}

func TestWrongSettingsAreRefused(t *testing.T) {
	t.Parallel()
	for wrong, says := range map[string]string{
		"--phases=speed": `--phases names "speed"`, "--lag=500ms": "want whole seconds", "--rounds=0": "must be 1 or more",
		"--base-gib=0": "0.1 or more", "--absent=zstd": "PROGRAM=REASON",
	} {
		if _, err := parse([]string{"--folder=/f", "--out=/o", wrong}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	if _, err := parse([]string{"--folder=/f", "--out=/o"}); err != nil {
		t.Error(err)
	}
	b := &bench{settings: settings{only: []string{"pgBackRest", "wal-g"}}}
	if err := b.choose(); err == nil || !strings.Contains(err.Error(), `names "wal-g": want some of archive_command,none`) {
		t.Error(err)
	}
}

func TestTheCPUTimeOfAProgramHasThatOfProcessesThatItHasLeft(t *testing.T) {
	t.Parallel()
	b := &bench{settings: settings{folder: t.TempDir()}, ctx: t.Context()}
	burn := `i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done`
	p, err := b.start("left", nil, "sh", "-c", "sh -c '"+burn+"' & exit 0") // the helper adopts it
	if err != nil {
		t.Fatal(err)
	}
	if err := b.wait(p); err != nil {
		t.Fatal(err)
	}
	if seconds, err := p.cpu(); seconds < 0.05 || err != nil {
		t.Errorf("%g seconds, %v", seconds, err)
	}
}

func TestAKilledProgramLeavesNoProcess(t *testing.T) {
	t.Parallel()
	b := &bench{settings: settings{folder: t.TempDir()}, ctx: t.Context()}
	mark := fmt.Sprintf("%d.%d", 1000+os.Getpid(), time.Now().UnixNano()%1000)
	p, err := b.start("killed", nil, "sh", "-c", "sh -c 'setsid sleep "+mark+"' & exec sleep "+mark)
	if err != nil {
		t.Fatal(err)
	}
	runs := func() bool {
		all, err := procfs.AllProcs()
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(all, func(process procfs.Proc) bool {
			words, err := process.CmdLine()
			return err == nil && len(words) == 2 && words[0] == "sleep" && words[1] == mark
		})
	}
	if err := b.until("it runs", func() (bool, error) { return runs(), nil }); err != nil {
		t.Fatal(err)
	}
	p.kill()
	if runs() {
		t.Error("a process is left")
	}
}
