//go:build faults

/*
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/dbcluster/databasecluster-operator/test/lab"
)

const (
	// ttl of the engine: another member becomes the primary after this time without an answer of the primary.
	ttl = 30 * time.Second
	// calm is the time for which a cluster must stay healthy.
	calm = 3 * time.Second
)

// world is a namespace with a cluster for several faults.
type world struct {
	*testing.T
	*lab.Cluster
	lab         *lab.Lab
	synchronous string
	random      *rand.Rand
	number      int
	disk        string
	writers     *lab.Writers
	// acknowledged are the rows of the last run.
	acknowledged map[string][]lab.Row
	// archived is what a campaign of the archive knows; nil for clusters without an archive.
	archived *archived
	// broken is true after a run that did not recover. The next run gets another cluster.
	broken bool
	// failed is true after the first such run.
	failed bool
}

func newWorld(t *testing.T, synchronous string) *world {
	t.Helper()
	if wholeNode { // an interrupted campaign can leave a part stopped
		if err := lab.StartParts(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	namespace := fmt.Sprintf("faults-%s-%s", synchronous, time.Now().UTC().Format("150405"))
	l, err := lab.New(t.Context(), namespace, image)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, lab: l, synchronous: synchronous, random: rand.New(rand.NewPCG(uint64(seed), 0))} //nolint:gosec // a repeatable order
	t.Cleanup(func() {
		if w.failed {
			t.Logf("namespace %s stays, because a cluster in it did not recover", namespace)
			return
		}
		if err := l.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return w
}

// withCluster makes sure that there is a healthy cluster on volumes of a StorageClass.
func (w *world) withCluster(disk string) {
	w.Helper()
	if w.Cluster != nil && !w.broken && w.disk == disk {
		return
	}
	w.disk = disk
	w.number++
	template := w.lab.Template(fmt.Sprintf("orders%d", w.number), disk, parameters(w.synchronous))
	if w.archived != nil {
		w.archived.configure(template)
	}
	var err error
	w.Cluster, err = w.lab.Run(w.Context(), template)
	if err != nil {
		w.Fatal(err)
	}
	w.broken = false
}

func TestNoFaultLosesAnAcknowledgedRow(t *testing.T) {
	for _, mode := range synchronous {
		t.Run("synchronous "+mode, func(t *testing.T) {
			w := newWorld(t, mode)
			for range runs {
				w.everyFault(t)
			}
		})
	}
}

func (w *world) everyFault(t *testing.T) {
	for _, f := range faults {
		for _, state := range operator {
			if wanted(f.name) && (!f.needsOperator || state == "on") {
				t.Run(f.name+", operator "+state, func(t *testing.T) { w.in(t).run(f, state) })
			}
		}
	}
}

// in reports to another test.
func (w *world) in(t *testing.T) *world {
	w.T = t
	return w
}

// run disturbs the cluster once, and looks for every acknowledged row.
func (w *world) run(f fault, state string) {
	if f.wholeNode && !wholeNode {
		w.Skip("disturbs other users of this node: NODE=mine allows it")
	}
	w.withCluster(f.disk)
	w.must(w.replaceRestarted(), "the cluster is not ready before the fault")
	w.number++
	var err error
	w.writers, err = w.Write(w.Context(), fmt.Sprintf("writers%d", w.number))
	w.must(err, "start writers")
	w.must(w.operate(state), "operator "+state)
	result := lab.Result{Time: time.Now(), Fault: f.name, Synchronous: w.synchronous, Operator: state, Seed: seed, Ways: map[string]lab.Seen{}}
	w.disturb(f, &result)
	end := time.Now()
	if err := w.operate("on"); err == nil {
		err = w.AwaitReady(w.Context())
		w.note(&result, err, "the operator does not report Ready")
	}
	w.count(f, &result, end)
	result.Load = lab.Load()
	w.Logf("%+v", result)
	record(w.T, result)
	w.broken = len(result.Problems) > 0
	w.failed = w.failed || w.broken
	if w.broken {
		w.Errorf("%s\n%s", strings.Join(result.Problems, "\n"), w.Conditions(w.Context()))
	}
}

// replaceRestarted deletes pods with a restarted container. Otherwise the kubelet delays the next restart longer each
// time, and a fault would look worse after others.
func (w *world) replaceRestarted() error {
	if err := w.AwaitReady(w.Context()); err != nil {
		return err
	}
	pods, err := w.Pods(w.Context())
	if err != nil {
		return err
	}
	for i, pod := range pods {
		if pod.Status.ContainerStatuses[0].RestartCount == 0 {
			continue
		}
		if err := w.DeletePod(w.Context(), &pods[i], -1); err != nil {
			return err
		}
		time.Sleep(calm)
		if err := w.AwaitReady(w.Context()); err != nil {
			return err
		}
	}
	return nil
}

// disturb executes a fault and waits until the cluster is healthy.
func (w *world) disturb(f fault, result *lab.Result) {
	heal, err := f.inject(w)
	w.note(result, err, "the fault did not happen")
	time.Sleep(f.hold)
	if heal != nil {
		w.note(result, heal(), "the end of the fault")
	}
	if f.needsOperator { // members may be healthy between two steps of the operator
		w.note(result, w.AwaitReady(w.Context()), "the operator does not complete its work")
	}
	w.note(result, w.awaitCalm(), "no recovery")
	result.Recovered = time.Since(result.Time).Seconds()
}

// awaitCalm waits until the cluster has been healthy for a while and accepts writes.
func (w *world) awaitCalm() error {
	since := time.Now()
	err := lab.Await(w.Context(), "all members to be healthy", func() bool {
		if !w.Healthy(w.Context()) {
			since = time.Now()
		}
		return time.Since(since) > calm
	})
	if err != nil {
		return err
	}
	return w.writers.AwaitProgress(w.Context())
}

// count stops the writers, and compares their rows with those of each member.
func (w *world) count(f fault, result *lab.Result, end time.Time) {
	acknowledged, err := w.writers.Stop(w.Context())
	w.must(err, "stop writers")
	w.acknowledged = acknowledged
	primary, err := w.Primary(w.Context())
	w.must(err, "find the primary")
	for way, rows := range acknowledged {
		stored, err := w.writers.Stored(w.Context(), primary.Name, way)
		w.must(err, "read rows")
		seen := lab.See(rows, stored, result.Time, end)
		if f.deletesData {
			seen.Lost = 0
		}
		result.Ways[way] = seen
		if seen.Lost > 0 && w.synchronous != "off" {
			result.Problems = append(result.Problems, fmt.Sprintf("%d acknowledged rows are missing", seen.Lost))
		}
		if seen.TwoPrimaries > ttl.Seconds() {
			result.Problems = append(result.Problems, fmt.Sprintf("two primaries accepted writes for %.1f s", seen.TwoPrimaries))
		}
		w.note(result, w.awaitEqual(way, fmt.Sprint(stored)), "members differ")
	}
	w.must(w.writers.Remove(w.Context()), "remove writers")
}

// awaitEqual waits until all replicas have the rows of the primary.
func (w *world) awaitEqual(way, want string) error {
	replicas, err := w.Replicas(w.Context())
	if err != nil {
		return err
	}
	for _, replica := range replicas {
		err := lab.Await(w.Context(), replica.Name+" to have the rows of the primary", func() bool {
			stored, err := w.writers.Stored(w.Context(), replica.Name, way)
			return err == nil && fmt.Sprint(stored) == want
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) note(result *lab.Result, err error, what string) {
	if err != nil {
		result.Problems = append(result.Problems, what+": "+err.Error())
	}
}

func (w *world) must(err error, what string) {
	w.Helper()
	if err != nil {
		w.broken, w.failed = true, true
		w.Fatalf("%s: %v", what, err)
	}
}
