/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func newTestLoad() *load {
	return &load{patience: time.Minute, clusters: map[string]*state{}, owners: map[string]string{}}
}

func TestAWaiterIsNotifiedOfTheEventThatItWaitsFor(t *testing.T) {
	l := newTestLoad()
	go func() {
		l.see("a", func(s *state) { s.exists = true })
		l.see("b", func(s *state) { s.exists, s.ready = true, true })
		l.see("a", func(s *state) { s.ready = true })
	}()
	at, err := l.await(t.Context(), "a", isReady)
	if err != nil || at.IsZero() || !isReady(l.clusters["a"]) {
		t.Errorf("%v, %v", at, err)
	}
	// The event is in the past.
	if again, err := l.await(t.Context(), "a", isReady); err != nil || !again.Equal(at) {
		t.Errorf("%v, want %v: %v", again, at, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the operator has ended"))
	if _, err := l.await(ctx, "a", isDeleted); err == nil || err.Error() != "waiting for a: the operator has ended" {
		t.Error(err)
	}
}

func TestARolloutIsOverWhenAllPodsAreNewAndReady(t *testing.T) {
	done, err := allReady(members, map[types.UID]bool{"1": true, "2": true, "3": true})
	if err != nil {
		t.Fatal(err)
	}
	s := &state{exists: true, ready: true}
	for _, c := range []struct {
		pods map[types.UID]bool
		want bool
	}{
		{nil, false},
		{map[types.UID]bool{"1": true, "2": true, "3": true}, false},
		{map[types.UID]bool{"4": true, "5": true}, false},
		{map[types.UID]bool{"4": true, "5": true, "6": false}, false},
		{map[types.UID]bool{"4": true, "5": true, "3": true}, false},
		{map[types.UID]bool{"4": true, "5": true, "6": true}, true},
	} {
		s.pods = c.pods
		if done(s) != c.want {
			t.Errorf("%v: want %v", c.pods, c.want)
		}
	}
	if s.ready = false; done(s) {
		t.Error("a rollout is over although the operator does not report it")
	}
}

func TestEachClusterOfARangeIsChangedOnce(t *testing.T) {
	var atOnce, most atomic.Int64
	names := make(chan string, 10)
	took, err := newTestLoad().each(t.Context(), clusters{round: 2, from: 3, to: 8}, 2, func(_ context.Context, name string) (time.Duration, error) {
		most.Store(max(most.Load(), atOnce.Add(1)))
		defer atOnce.Add(-1)
		names <- name
		return time.Second, nil
	})
	close(names)
	var got []string
	for name := range names {
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"db-2-00003", "db-2-00004", "db-2-00005", "db-2-00006", "db-2-00007"}; !slices.Equal(got, want) || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	if len(took) != 5 || most.Load() > 2 {
		t.Errorf("%v, %d at once", took, most.Load())
	}
}

func TestPhasesThatChangePodsTakePartAtTheFirstSizeAndDeletionAtTheLast(t *testing.T) {
	o, err := parse([]string{"--audit-log=a"})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{options: o}
	var names [3][]string
	for _, p := range phases {
		for n, at := range []struct{ isFirst, isLast bool }{{true, false}, {false, false}, {false, true}} {
			if w.wanted(p, at.isFirst, at.isLast) {
				names[n] = append(names[n], p.name)
			}
		}
	}
	for n, want := range [3][]string{
		{"create", "rest", "rollout", "scale_up", "scale_down", "drift", "restart"},
		{"create", "rest", "drift", "restart"},
		{"create", "rest", "drift", "restart", "delete"},
	} {
		if !slices.Equal(names[n], want) {
			t.Errorf("size %d: %v, want %v", n, names[n], want)
		}
	}
}

func TestOptionsThatDoNotWorkTogetherAreRejected(t *testing.T) {
	for _, bad := range [][]string{
		{}, {"--audit-log=a", "--form=other"}, {"--audit-log=a", "--form=full"}, {"--audit-log=a", "--phases=create,dance"},
		{"--audit-log=a", "--phases=rest"}, {"--audit-log=a", "--rounds=2", "--phases=create"},
		{"--audit-log=a", "--rounds=2", "--changes=5"}, {"--audit-log=a", "--in-flight=0"}, {"--audit-log=a", "--storm=0"},
		{"--audit-log=a", "--changes=-1"}, {"--audit-log=a", "--sizes=0"}, {"--audit-log=a", "--rest=-1s"}, {"--audit-log=a", "--patience=0s"},
		{"--audit-log=a", "quick"},
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
}

func TestRatiosCompareTheSamePhaseSizeAndRound(t *testing.T) {
	out := filepath.Join(t.TempDir(), "raw", "thin.jsonl")
	r, err := newReport(options{form: thin, out: out}, "v1")
	if err != nil {
		t.Fatal(err)
	}
	r.round = 1
	for _, f := range []record{
		{Clusters: 10, Who: nameOfFloor, Phase: "create", Figure: "writes", Value: 4},
		{Clusters: 10, Who: "operator", Phase: "create", Figure: "writes", Value: 6},
		{Clusters: 20, Who: "operator", Phase: "create", Figure: "writes", Value: 6},
	} {
		r.figure(f)
	}
	key := record{Form: thin, Round: 1, Clusters: 10, Who: "operator", Phase: "create", Figure: "writes"}
	if ratio, found := r.ratio(key); !found || ratio != 1.5 {
		t.Errorf("%v, %v", ratio, found)
	}
	key.Clusters = 20
	if ratio, found := r.ratio(key); found {
		t.Errorf("a ratio without a floor: %v", ratio)
	}
}

func TestForeignCPUTimeIsWhatTheBenchmarkDidNotUse(t *testing.T) {
	before, after := machineTime{busy: 10, own: 5}, machineTime{busy: 30, own: 20}
	want := 5.0 / 10
	if got := after.foreign(before, 10*time.Second, 1); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAWrongConditionEndsTheBenchmarkWithWhatTheClusterHas(t *testing.T) {
	l := newTestLoad()
	l.Ready, l.patience = "Raedy", time.Millisecond
	l.sawCluster(&unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "a"},
		"status":   map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Ready", "message": "fine"}}},
	}}, true)
	_, err := l.await(t.Context(), "a", isReady)
	want := `a is not as expected after 1ms. It exists: true. Condition Raedy is True for its generation: false. ` +
		`All conditions: Ready=True (Ready: fine)`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestAPhaseChangesAsManyClustersAsTheOptionsAllow(t *testing.T) {
	drift := phase{name: "drift"}
	for name, c := range map[string]struct {
		phase   phase
		changes int
		want    clusters
	}{
		"creation is never limited":     {phaseCreate, 10, clusters{1, 100, 1000}},
		"all change":                    {drift, 0, clusters{1, 0, 1000}},
		"some change":                   {drift, 10, clusters{1, 990, 1000}},
		"more than exist change":        {drift, 2000, clusters{1, 0, 1000}},
		"all that exist are deleted":    {phaseDelete, 0, clusters{1, 0, 100}},
		"the youngest ones are deleted": {phaseDelete, 10, clusters{1, 90, 100}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{options: options{changes: c.changes}, round: 1}
			if got := w.reach(c.phase, &contestant{size: 100}, 1000); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestOnlyThisOperatorTakesPartAboveTheSizeOfTheComparison(t *testing.T) {
	w := &world{contestants: make([]*contestant, 3)}
	if all := w.taking(10000); len(all) != 3 {
		t.Errorf("without a limit, %d contestants take part", len(all))
	}
	w.compareTo = 1000
	if all, one := w.taking(1000), w.taking(3000); len(all) != 3 || len(one) != 1 {
		t.Errorf("%d contestants take part at 1,000 clusters, and %d at 3,000", len(all), len(one))
	}
}
