//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

// random is a sequence of faults for DURATION. SEED determines the faults, the members and the pauses.
var random = []fault{{name: "random", inject: atRandom, hold: killed}}

// eligible are faults of any member, with the longest time until they end.
var eligible = []fault{
	{name: "kill PostgreSQL", inject: signal((*world).anyone, syscall.SIGKILL, lab.Postmaster)},
	{name: "kill Patroni", inject: signal((*world).anyone, syscall.SIGKILL, lab.Patroni)},
	{name: "freeze the container", inject: signal((*world).anyone, syscall.SIGSTOP, lab.Any)},
	{name: "freeze Patroni", inject: signal((*world).anyone, syscall.SIGSTOP, lab.Patroni)},
	{name: "delete", inject: deletePod((*world).anyone, -1)},
	{name: "delete at once", inject: deletePod((*world).anyone, 1)},
	{name: "delete by force", inject: deletePod((*world).anyone, 0)},
	{name: "cut from the API server", inject: cut((*world).anyone, true, false), hold: time.Minute},
	{name: "cut from the other members", inject: cut((*world).anyone, false, true), hold: time.Minute},
	{name: "cut from both", inject: cut((*world).anyone, true, true), hold: time.Minute},
	{name: "kill the primary", inject: killPrimary},
	{name: "hand over", inject: requestHandOver},
	{name: "rolling restart", inject: rollingRestart},
}

// anyone selects a member by its ordinal, so that the choice depends on the seed alone.
func (w *world) anyone() (*corev1.Pod, error) {
	return w.Pod(w.Context(), w.Member(w.random.IntN(w.Members)))
}

// atRandom starts a fault after another, without waiting for the end of the previous one. The last ones end with it.
func atRandom(w *world) (func() error, error) {
	duration, err := time.ParseDuration(cmp.Or(os.Getenv("DBC_DURATION"), "15m"))
	if err != nil {
		return nil, err
	}
	w.random = rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // a repeatable order
	var ends []func() error
	for deadline := time.Now().Add(duration); time.Now().Before(deadline); {
		f := eligible[w.random.IntN(len(eligible))]
		hold, pause := w.seconds(f.hold), w.seconds(30*time.Second)
		heal, err := f.inject(w)
		w.Logf("%s %s for %v: %v", time.Now().Format(time.TimeOnly), f.name, hold, err)
		if heal != nil && err == nil {
			ends = append(ends, after(hold, heal))
		}
		time.Sleep(pause)
	}
	return func() error {
		var problems error
		for _, wait := range ends {
			problems = errors.Join(problems, wait())
		}
		return problems
	}, nil
}

// seconds returns a random time below a maximum.
func (w *world) seconds(most time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(most.Seconds())+1)) * time.Second
}

// after ends a fault later, and returns how to wait for that.
func after(hold time.Duration, heal func() error) func() error {
	ended := make(chan error, 1)
	go func() {
		time.Sleep(hold)
		ended <- heal()
	}()
	return func() error { return <-ended }
}
