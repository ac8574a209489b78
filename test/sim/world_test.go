/*
SPDX-License-Identifier: Apache-2.0
*/

// Package sim runs the operator in a simulated world: an API server in memory, and actors that do what
// the controllers of Kubernetes, the kubelet and the volumes do. A world is deterministic and takes
// milliseconds, so a story can be told again and again with one call more that fails.
//
// A pass starts when a watch of the controller lets a change through, and when it is due. What a real API server says is
// for test/integration.
package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

const (
	namespace = "shop"
	name      = "orders"
	operator  = "operator"
	// tick is how long a round takes in which something happens.
	tick = time.Second
	// maxRounds is how many rounds may pass until nothing happens any more.
	maxRounds = 300
	// quiet is how many times in a row a pass that is due may find nothing to do before the world is at
	// rest: what is looked at again and again for good never ends.
	quiet = 3
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// actor is a part of the world that acts by itself.
type actor struct {
	name string
	// step does the next thing, if there is one.
	step func(w *world)
}

// world is one API server with one operator and all the others.
type world struct {
	store  *store
	clock  *clocktesting.FakePassiveClock
	actors []actor
	// chance shuffles the actors and lets some of them dawdle; nil for always the same.
	chance *rand.Rand
	// lively tells that something changed in the last round, dawdled that somebody left something in this one.
	lively, dawdled bool
	// by is who acts at the moment.
	by    string
	story *story
	// life is the operator since it was last started.
	life *life
	// away tells that no operator runs.
	away bool
	// plant wraps the operator's client, to plant a mistake in it; nil for none.
	plant func(client.WithWatch) client.WithWatch
	// fault is what is to go wrong; nil for nothing.
	fault *fault
	// lag is a cache that is late, from which the operator reads; nil for one that is not.
	lag client.Reader
	// trace are the operator's calls so far, over all its lives.
	trace []site
	sites map[site]int
	// queues are what the operator's controllers are to look at again.
	queues map[item]queue
	// deaf is a watch that tells nothing; none for the zero value.
	deaf watched
	// broken are the rules that were broken.
	broken []string
	// counts are how many times the operator made and deleted each object.
	counts map[string]int
}

func newWorld(seed uint64) *world {
	w := &world{clock: clocktesting.NewFakePassiveClock(began), sites: map[site]int{}, counts: map[string]int{}, queues: map[item]queue{}}
	w.story = &story{at: w.clock.Now}
	if seed > 0 {
		w.chance = rand.New(rand.NewPCG(seed, 0))
	}
	w.store = newStore(w.clock)
	w.store.committed = []func(change){w.watchRules, w.watchData, w.count, w.tell, w.notify}
	// Without chance each acts before the one that it follows up on, so that a pass sees every state between.
	w.actors = []actor{
		{"namespace", (*world).endNamespace},
		{"garbage", (*world).collectGarbage},
		{"job", (*world).runJobs},
		{"kubelet", (*world).runKubelet},
		{"volumes", (*world).runVolumes},
		{"statefulset", (*world).runStatefulSets},
		{operator, (*world).operate},
	}
	w.start()
	return w
}

// clone is the same world at this moment, in which things may go otherwise from here on. It has no chance:
// what would have come is not copied.
func (w *world) clone() *world {
	copied := newWorld(0)
	copied.clock.SetTime(w.clock.Now())
	hear := copied.store.committed
	copied.store = w.store.clone(copied.clock)
	copied.store.committed = hear
	copied.story.lines, copied.story.revisions = slices.Clone(w.story.lines), slices.Clone(w.story.revisions)
	copied.sites, copied.counts = maps.Clone(w.sites), maps.Clone(w.counts)
	copied.plant, copied.away = w.plant, w.away
	copied.queues = maps.Clone(w.queues)
	return copied
}

// round lets everybody act once and tells whether anything changed, or may be left to do.
func (w *world) round() bool {
	before := w.store.version
	w.dawdled = false
	for _, i := range w.order(len(w.actors)) {
		w.by = w.actors[i].name
		w.actors[i].step(w)
	}
	w.by = "user"
	w.lively = w.store.version != before
	if !w.lively {
		return w.dawdled
	}
	w.clock.SetTime(w.clock.Now().Add(tick))
	return true
}

func (w *world) order(n int) []int {
	if w.chance != nil {
		return w.chance.Perm(n)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// dawdles tells whether an actor leaves what it could do for the next round. When nothing happened in the
// last one, everybody does what there is to do.
func (w *world) dawdles() bool {
	if w.chance == nil || !w.lively || w.chance.IntN(3) > 0 {
		return false
	}
	w.dawdled = true
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// cluster is the cluster as it is stored, or nil.
func (w *world) cluster() *dbv1.DatabaseCluster { return get[*dbv1.DatabaseCluster](w.store, name) }

// count counts what the operator made and deleted.
func (w *world) count(c change) {
	switch {
	case w.by != operator:
	case c.before == nil:
		w.counts["create "+ref(c.after)]++
	case leftToTime(c.before):
	case c.after == nil || c.after.GetDeletionTimestamp() != nil && c.before.GetDeletionTimestamp() == nil:
		w.counts["delete "+ref(c.before)]++
	}
}

// leftToTime tells whether nothing depends on an object being deleted, because it goes by itself.
func leftToTime(object client.Object) bool {
	return object.GetLabels()[dbv1.LabelComponent] == dbv1.ComponentBackupDeletion
}

func (w *world) breaks(rule string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(rule, args...))
}
