/*
SPDX-License-Identifier: Apache-2.0
*/

// Package world runs the operator in a simulated world: an API server in memory, and actors for the controllers of
// Kubernetes, the kubelet and the volumes. A world is deterministic and takes milliseconds, so a story can be
// repeated with a failure at each call.
//
// A pass starts when a watch of the controller lets a change through, or when it is due. test/integration covers the
// behavior of a real API server.
//
// A Story consists of steps, a Play is a story in a World, and a Campaign repeats a play with failures. The rules hold at every moment.
package world

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
	"github.com/dbcluster/databasecluster-operator/test/world/store"
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

// Began is when every world begins.
var Began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// actor is a part of the world that acts by itself.
type actor struct {
	name string
	// step executes the next action, if there is one.
	step func(w *World)
}

// World is one API server with one operator and all other actors.
type World struct {
	// namespace and name are those of the cluster.
	namespace, Name string
	Store           *store.Store
	// disk is the state outside the API: data.
	disk *disk
	// oneNode reports whether all pods share a node, so that an anti-affinity matters.
	oneNode bool
	Clock   *clocktesting.FakePassiveClock
	actors  []actor
	// chance shuffles the actors and delays some of them; nil for a fixed order.
	chance *rand.Rand
	// active reports whether something changed in the last round, delayed whether an actor left work in this one.
	active, delayed bool
	// by is the current actor.
	by      string
	journal *journal
	// life is the operator since its last start, and lives is how often it has started.
	life  *life
	lives int
	// Skew is by how much the operator's clock differs from the one of Kubernetes.
	Skew time.Duration
	// Away reports whether no operator runs.
	Away bool
	// Plant wraps the operator's client to plant a mistake; nil for none.
	Plant func(client.WithWatch) client.WithWatch
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
	// Counts are the numbers of the operator's creations and deletions of each object.
	Counts map[string]int
}

// New is a world for a cluster, which does not exist yet. A seed other than 0 shuffles the actors.
func New(cluster types.NamespacedName, seed uint64) *World {
	w := &World{namespace: cluster.Namespace, Name: cluster.Name, disk: newDisk(), Clock: clocktesting.NewFakePassiveClock(Began),
		sites: map[site]int{}, Counts: map[string]int{}, queues: map[item]queue{}}
	w.journal = &journal{at: w.Clock.Now}
	if seed > 0 {
		w.chance = rand.New(rand.NewPCG(seed, 0))
	}
	w.Store = store.New(w.Clock, reconciled()...)
	w.Store.Committed = []func(store.Change){
		w.watchRules, w.watchData, w.watchFirstData, w.watchRoles, w.watchHandOvers, w.count, w.recordChange, w.notify,
	}
	// Without chance, each actor acts before the one that reacts to it, so that a pass sees every state between.
	w.actors = []actor{
		{"namespace", (*World).endNamespace},
		{"drain", (*World).runDrains},
		{"garbage", (*World).collectGarbage},
		{"job", (*World).runJobs},
		{"kubelet", (*World).runKubelet},
		{"database", (*World).runDatabase},
		{"volumes", (*World).runVolumes},
		{"statefulset", (*World).runStatefulSets},
		{"deployment", (*World).runDeployments},
		{operator, (*World).Operate},
	}
	w.Start()
	return w
}

// clone is a copy of the current state that can continue differently. It has no chance: the future is not copied.
func (w *World) clone() *World {
	copied := New(types.NamespacedName{Namespace: w.namespace, Name: w.Name}, 0)
	copied.disk, copied.oneNode = w.disk.clone(), w.oneNode
	copied.Clock.SetTime(w.Clock.Now())
	hear := copied.Store.Committed
	copied.Store = w.Store.Clone(copied.Clock)
	copied.Store.Committed = hear
	copied.journal.lines, copied.journal.revisions = slices.Clone(w.journal.lines), slices.Clone(w.journal.revisions)
	copied.sites, copied.Counts = maps.Clone(w.sites), maps.Clone(w.Counts)
	copied.Plant, copied.Away, copied.Skew, copied.refusedSince = w.Plant, w.Away, w.Skew, w.refusedSince
	copied.queues = maps.Clone(w.queues)
	copied.life.written = map[string]*kit.Writes{}
	for kind, writes := range w.life.written {
		copied.life.written[kind] = writes.Copy(sight{copied}, copied.Clock)
	}
	return copied
}

// round lets each actor act once and reports whether anything changed or may be left to do.
func (w *World) round() bool {
	before := w.Store.Version
	w.delayed = false
	for _, i := range w.order(len(w.actors)) {
		w.by = w.actors[i].name
		w.actors[i].step(w)
	}
	w.by = "user"
	w.watchAccess()
	w.active = w.Store.Version != before
	if !w.active {
		return w.delayed
	}
	w.Clock.SetTime(w.Clock.Now().Add(tick))
	return true
}

func (w *World) order(n int) []int {
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
func (w *World) delays() bool {
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

// Cluster is the stored cluster, or nil.
func (w *World) Cluster() *dbv1.DatabaseCluster {
	return store.Get[*dbv1.DatabaseCluster](w.Store, w.Name)
}

// count counts the objects that the operator created and deleted. The cluster is deleted with its last finalizer, which the operator or
// the garbage collector removes.
func (w *World) count(c store.Change) {
	_, isCluster := c.Object().(*dbv1.DatabaseCluster)
	switch {
	case w.by != operator || isCluster:
	// How many runs there are depends on the path.
	case slices.Contains([]string{dbv1.ComponentObjects, dbv1.ComponentProtect, dbv1.ComponentMeasure},
		c.Object().GetLabels()[dbv1.LabelComponent]):
	case c.Before == nil:
		w.Counts["create "+store.Ref(c.After)]++
	case leftToTime(c.Before), isAttempt(c.Before):
	case c.After == nil || c.After.GetDeletionTimestamp() != nil && c.Before.GetDeletionTimestamp() == nil:
		w.Counts["delete "+store.Ref(c.Before)]++
	}
}

// leftToTime reports whether an object is deleted by itself after some time.
func leftToTime(object client.Object) bool {
	return slices.Contains([]string{
		dbv1.ComponentBackupDeletion, dbv1.ComponentRotation, dbv1.ComponentHandOver, dbv1.ComponentMemberRemove, dbv1.ComponentConfigure,
		dbv1.ComponentObjects, dbv1.ComponentProtect, dbv1.ComponentMeasure,
	}, object.GetLabels()[dbv1.LabelComponent])
}

// Breaks records a broken rule.
func (w *World) Breaks(rule string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(rule, args...))
}

// Delete deletes an object as kubectl does: its dependents follow in the background.
func (w *World) Delete(object client.Object) { Must(w.Store.Delete(object, &InBackground)) }

// Meta is the metadata of an object in the namespace of the cluster.
func (w *World) Meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

// InBackground is how kubectl deletes objects.
var InBackground = client.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground)}

// Must panics on an error.
func Must(err error) {
	if err != nil {
		panic(err)
	}
}
