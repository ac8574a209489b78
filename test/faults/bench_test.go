//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// bench measures gaps of writes to two databases that run side by side, in turns.
type bench struct {
	*testing.T
	writers map[contestant]*lab.Writers
	// measured are the results so far.
	measured []lab.Measurement
}

// pause lets the machine and the writers calm down between two measurements. loop is the period in which Patroni looks at
// its server. A disturbance hits any moment of it, not the same moment in each run.
const (
	pause = 3 * time.Second
	loop  = 5 * time.Second
)

func TestBenchFailover(t *testing.T) {
	l, err := lab.New(t.Context(), "faults-bench-"+time.Now().UTC().Format("150405"), image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	parameters := parameters(words("DBC_SYNCHRONOUS", "on")[0])
	ours, err := l.NewCluster(t.Context(), "ours", "", parameters)
	bare, problem := l.NewBare(t.Context(), "bare", parameters)
	if err := errors.Join(err, problem); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, writers: map[contestant]*lab.Writers{}}
	for _, c := range []contestant{ours, bare} {
		b.writers[c], err = c.DB().Write(t.Context(), "writers-"+c.DB().Name)
		b.must(c, "start writers", err)
	}
	b.turns(ours, bare)
}

// turns measures each disturbance several times. Each contestant is the first one in every other run.
func (b *bench) turns(contestants ...contestant) {
	for run := range number("DBC_RUNS", 20) {
		for _, d := range disturbances {
			if wanted(d.name) {
				b.measure(d, contestants[run%2])
				b.measure(d, contestants[1-run%2])
			}
		}
		b.table()
	}
}

// table writes the table of all runs so far.
func (b *bench) table() {
	table := lab.Ratios(b.measured, "ours", "bare")
	fmt.Print("\n" + table)
	if err := os.WriteFile(filepath.Join(output, "failover.md"), []byte(table), 0o644); err != nil {
		b.Error(err)
	}
}

// measure disturbs a contestant, and records the gaps that its writers saw.
func (b *bench) measure(d disturbance, c contestant) {
	b.phase(d.before, c)
	time.Sleep(pause + rand.N(loop)) //nolint:gosec // a moment is no secret
	start := time.Now()
	b.phase(d.do, c)
	m := lab.Measurement{Time: start, Contestant: c.DB().Name, Disturbance: d.name, Load: lab.Load(), Ways: map[string]lab.Seen{}}
	end := time.Now()
	for _, way := range lab.Ways {
		rows, err := b.writers[c].Rows(b.Context(), way)
		b.must(c, d.name, err)
		m.Ways[way] = lab.See(lab.Between(rows, start, end), lab.All, start, end)
	}
	b.measured = append(b.measured, m)
	b.Logf("%+v", m)
	b.must(c, d.name, lab.Append(filepath.Join(output, "failover.jsonl"), m))
	b.phase(d.after, c)
}

// phase does something, and waits until the contestant is ready and writes.
func (b *bench) phase(do func(context.Context, contestant) error, c contestant) {
	if do == nil {
		return
	}
	b.must(c, "disturb", do(b.Context(), c))
	time.Sleep(pause) // until then, a disturbed cluster may still look ready
	b.must(c, "become ready", c.AwaitReady(b.Context()))
	b.must(c, "write", b.writers[c].AwaitProgress(b.Context()))
}

func (b *bench) must(c contestant, what string, err error) {
	b.Helper()
	if err != nil {
		b.Fatalf("%s %s: %v", c.DB().Name, what, err)
	}
}
