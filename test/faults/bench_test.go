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

// bench measures what clients of two databases see that run side by side, in turns.
type bench struct {
	*testing.T
	// name is that of the files with the results.
	name         string
	disturbances []disturbance
	writers      map[contestant]*lab.Writers
	markdown     func([]lab.Measurement) string
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
	l := newLab(t)
	parameters := parameters(words("DBC_SYNCHRONOUS", "on")[0])
	ours, err := l.NewCluster(t.Context(), "ours", "", parameters)
	bare, problem := l.NewBare(t.Context(), "bare", parameters)
	if err := errors.Join(err, problem); err != nil {
		t.Fatal(err)
	}
	b := &bench{T: t, name: "failover", disturbances: disturbances, writers: map[contestant]*lab.Writers{},
		markdown: func(measured []lab.Measurement) string { return lab.Ratios(measured, "ours", "bare") }}
	for _, c := range []contestant{ours, bare} {
		b.writers[c], err = c.DB().Write(t.Context(), "writers-"+c.DB().Name)
		b.must(c, "start writers", err)
	}
	b.turns(ours, bare)
}

func newLab(t *testing.T) *lab.Lab {
	l, err := lab.New(t.Context(), "faults-bench-"+time.Now().UTC().Format("150405"), image)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return l
}

// turns measures each disturbance several times. Each contestant is the first one in every other run.
func (b *bench) turns(contestants ...contestant) {
	for run := range number("DBC_RUNS", 20) {
		for _, d := range b.disturbances {
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
	table := b.markdown(b.measured)
	fmt.Print("\n" + table)
	if err := os.WriteFile(filepath.Join(output, b.name+".md"), []byte(table), 0o644); err != nil {
		b.Error(err)
	}
}

// measure disturbs a contestant, and records what its writers saw.
func (b *bench) measure(d disturbance, c contestant) {
	b.phase(d.before, c)
	time.Sleep(pause + rand.N(loop)) //nolint:gosec // a moment is no secret
	start := time.Now()
	b.phase(d.do, c)
	m := lab.Measurement{Time: start, Contestant: c.DB().Name, Disturbance: d.name, Load: lab.Load()}
	var err error
	m.Ways, err = b.writers[c].See(b.Context(), start, time.Now())
	b.must(c, d.name, err)
	b.measured = append(b.measured, m)
	b.Logf("%+v", m)
	b.must(c, d.name, lab.Append(filepath.Join(output, b.name+".jsonl"), m))
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
