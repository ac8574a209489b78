/*
SPDX-License-Identifier: Apache-2.0
*/

// Package sim runs the operator in a simulated world: an API server in memory, and actors for the controllers of
// Kubernetes, the kubelet and the volumes. A world is deterministic and takes milliseconds, so a story can be
// repeated with a failure at each call.
//
// A pass starts when a watch of the controller lets a change through, or when it is due. test/integration covers the
// behavior of a real API server.
package sim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
)

const (
	operator = "operator"
	// tick is the duration of a round with events.
	tick = time.Second
	// maxRounds is the limit of rounds until the world is idle.
	maxRounds = 300
	// quiet is the number of due passes in a row that may find no work before the world is idle, and patience is for how long they have
	// to go on: no decision about members waits longer. Periodic passes never end.
	quiet    = 4
	patience = 6 * time.Minute
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// actor is a part of the world that acts by itself.
type actor struct {
	name string
	// step executes the next action, if there is one.
	step func(w *world)
}

// world is one API server with one operator and all other actors.
type world struct {
	// namespace and name are those of the cluster.
	namespace, name string
	store           *store
	// disk is the state outside the API: data.
	disk *disk
	// oneNode reports whether all pods share a node, so that an anti-affinity matters.
	oneNode bool
	clock   *clocktesting.FakePassiveClock
	actors  []actor
	// chance shuffles the actors and delays some of them; nil for a fixed order.
	chance *rand.Rand
	// active reports whether something changed in the last round, delayed whether an actor left work in this one.
	active, delayed bool
	// by is the current actor.
	by    string
	story *story
	// life is the operator since its last start, and lives is how often it has started.
	life  *life
	lives int
	// skew is by how much the operator's clock differs from the one of Kubernetes.
	skew time.Duration
	// away reports whether no operator runs.
	away bool
	// plant wraps the operator's client to plant a mistake; nil for none.
	plant func(client.WithWatch) client.WithWatch
	// fault is the planned failure; nil for none.
	fault *fault
	// lag is a late cache that the operator reads; nil for a current one.
	lag client.Reader
	// trace are the operator's calls so far, over all its lives.
	trace []site
	sites map[site]int
	// queues are the queues of the operator's controllers.
	queues map[item]queue
	// muted is a watch without events; none for the zero value.
	muted watched
	// refusedSince is since when no ready member accepts the password that clients have; zero if one does.
	refusedSince time.Time
	// broken are the broken rules.
	broken []string
	// counts are the numbers of the operator's creations and deletions of each object.
	counts map[string]int
}

// newWorld is a world for a cluster, which does not exist yet. A seed other than 0 shuffles the actors.
func newWorld(cluster types.NamespacedName, seed uint64) *world {
	w := &world{namespace: cluster.Namespace, name: cluster.Name, disk: newDisk(), clock: clocktesting.NewFakePassiveClock(began), sites: map[site]int{}, counts: map[string]int{}, queues: map[item]queue{}}
	w.story = &story{at: w.clock.Now}
	if seed > 0 {
		w.chance = rand.New(rand.NewPCG(seed, 0))
	}
	w.store = newStore(w.clock, reconciled()...)
	w.store.committed = []func(change){w.watchRules, w.watchData, w.watchRoles, w.count, w.recordChange, w.notify}
	// Without chance, each actor acts before the one that reacts to it, so that a pass sees every state between.
	w.actors = []actor{
		{"namespace", (*world).endNamespace},
		{"garbage", (*world).collectGarbage},
		{"job", (*world).runJobs},
		{"kubelet", (*world).runKubelet},
		{"database", (*world).runDatabase},
		{"volumes", (*world).runVolumes},
		{"statefulset", (*world).runStatefulSets},
		{operator, (*world).operate},
	}
	w.start()
	return w
}

// clone is a copy of the current state that can continue differently. It has no chance: the future is not copied.
func (w *world) clone() *world {
	copied := newWorld(types.NamespacedName{Namespace: w.namespace, Name: w.name}, 0)
	copied.disk, copied.oneNode = w.disk.clone(), w.oneNode
	copied.clock.SetTime(w.clock.Now())
	hear := copied.store.committed
	copied.store = w.store.clone(copied.clock)
	copied.store.committed = hear
	copied.story.lines, copied.story.revisions = slices.Clone(w.story.lines), slices.Clone(w.story.revisions)
	copied.sites, copied.counts = maps.Clone(w.sites), maps.Clone(w.counts)
	copied.plant, copied.away, copied.skew, copied.refusedSince = w.plant, w.away, w.skew, w.refusedSince
	copied.queues = maps.Clone(w.queues)
	copied.life.written = map[string]*kit.Writes{}
	for kind, writes := range w.life.written {
		copied.life.written[kind] = writes.Copy(sight{copied}, copied.clock)
	}
	return copied
}

// round lets each actor act once and reports whether anything changed or may be left to do.
func (w *world) round() bool {
	before := w.store.version
	w.delayed = false
	for _, i := range w.order(len(w.actors)) {
		w.by = w.actors[i].name
		w.actors[i].step(w)
	}
	w.by = "user"
	w.watchAccess()
	w.active = w.store.version != before
	if !w.active {
		return w.delayed
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

// delays reports whether an actor leaves its work for the next round. If the last round had no events, all actors
// act.
func (w *world) delays() bool {
	if w.chance == nil || !w.active || w.chance.IntN(3) > 0 {
		return false
	}
	w.delayed = true
	return true
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// cluster is the stored cluster, or nil.
func (w *world) cluster() *dbv1.DatabaseCluster {
	return get[*dbv1.DatabaseCluster](w.store, w.name)
}

// count counts the objects that the operator created and deleted. The cluster is deleted with its last finalizer, which the operator or the garbage
// collector removes.
func (w *world) count(c change) {
	_, isCluster := c.object().(*dbv1.DatabaseCluster)
	switch {
	case w.by != operator || isCluster:
	case c.before == nil:
		w.counts["create "+ref(c.after)]++
	case leftToTime(c.before), isAttempt(c.before):
	case c.after == nil || c.after.GetDeletionTimestamp() != nil && c.before.GetDeletionTimestamp() == nil:
		w.counts["delete "+ref(c.before)]++
	}
}

// leftToTime reports whether an object is deleted by itself after some time.
func leftToTime(object client.Object) bool {
	return slices.Contains([]string{
		dbv1.ComponentBackupDeletion, dbv1.ComponentRotation, dbv1.ComponentHandOver, dbv1.ComponentMemberRemove, dbv1.ComponentConfigure,
	}, object.GetLabels()[dbv1.LabelComponent])
}

func (w *world) breaks(rule string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(rule, args...))
}

// erase deletes an object as kubectl does: its dependents follow in the background.
func (w *world) erase(object client.Object) { must(w.store.delete(object, &deleteInBackground)) }

// object is the metadata of an object in the namespace of the cluster.
func (w *world) object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

var deleteInBackground = client.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
