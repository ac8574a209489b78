/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kinds"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/protocol"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// item is an object of one of the operator's controllers.
type item struct{ kind, name string }

// queue is the state of a controller for one object.
type queue struct {
	// woken reports whether an event has occurred since the start of the last pass. due is the time of the next pass,
	// zero for never.
	woken    bool
	due      time.Time
	failures int
}

// items returns the cluster, also one that does not exist, and the other objects that the operator reconciles.
func (w *World) items() []item {
	items := []item{{"DatabaseCluster", w.Name}}
	for _, object := range w.Store.Sorted() {
		if _, is := object.(*dbv1.DatabaseCluster); !is && isReconciled(object) {
			items = append(items, item{KindOf(object), object.GetName()})
		}
	}
	return items
}

func (w *World) queue(it item) queue {
	if q, known := w.queues[it]; known {
		return q
	}
	return queue{woken: true}
}

// wake triggers a pass of every controller, even without changes.
func (w *World) wake() {
	for it, q := range w.queues {
		q.woken = true
		w.queues[it] = q
	}
}

// CaughtUp reports whether every triggered pass has run.
func (w *World) CaughtUp() bool {
	for _, it := range w.items() {
		if w.queue(it).woken {
			return false
		}
	}
	return true
}

// horizon is the longest time for which the world waits by itself for a due pass.
const horizon = time.Hour

// due returns the time of the next pass without an event, zero for never or a long time.
func (w *World) due() time.Time {
	var soonest time.Time
	for _, it := range w.items() {
		q := w.queue(it)
		if !q.due.IsZero() && q.due.Sub(w.Clock.Now()) <= horizon && (soonest.IsZero() || q.due.Before(soonest)) {
			soonest = q.due
		}
	}
	return soonest
}

// Start starts the operator, as after a crash.
func (w *World) Start() {
	w.lives++
	w.life = &life{world: w, process: fmt.Sprintf("process-%d", w.lives), started: skewed{w}.Now()}
	clear(w.queues)
}

// Operate runs the triggered and due passes.
func (w *World) Operate() {
	if w.Away {
		return
	}
	for _, it := range w.items() {
		if crashed := w.reconcile(it); crashed {
			return
		}
	}
}

func (w *World) reconcile(it item) (crashed bool) {
	q := w.queue(it)
	if !q.woken && (q.due.IsZero() || w.Clock.Now().Before(q.due)) {
		return false
	}
	w.queues[it] = queue{failures: q.failures}
	result, err, crashed := w.life.pass(it)
	q = w.queues[it]
	switch {
	case crashed:
		w.journal.add(operator, "crashes and starts again")
		w.Start()
		return true
	case err != nil:
		q.failures++
		q.due = w.Clock.Now().Add(time.Second << min(q.failures, 8))
		w.journal.add(operator, "fails: "+err.Error())
	default:
		q.failures = 0
		if result.RequeueAfter > 0 {
			q.due = w.Clock.Now().Add(result.RequeueAfter)
		}
	}
	w.queues[it] = q
	if err == nil {
		w.watchFollowing(it)
	}
	return false
}

func (l *life) pass(it item) (result ctrl.Result, err error, crashed bool) {
	w := l.world
	l.at, l.passing, l.wrote = it, true, ""
	ended := make(chan struct{})
	crashed = true
	go func() { // a crash ends this goroutine at any point
		defer close(ended)
		defer func() {
			if r := recover(); r != nil {
				w.Breaks("panic: %v\n%s", r, debug.Stack())
			}
		}()
		ctx := logf.IntoContext(context.Background(), logr.Discard())
		result, err = l.reconciler(it.kind).Reconcile(ctx, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: w.namespace, Name: it.name}})
		crashed = false
	}()
	<-ended
	l.catchUp()
	return result, err, crashed
}

// catchUp learns the changes during a pass.
func (l *life) catchUp() {
	missed := l.missed
	l.passing, l.missed = false, nil
	for _, c := range missed {
		l.world.notify(c)
	}
}

// transferImage is the image with the transfer binary for Jobs.
const transferImage = "operator:1"

func (l *life) reconciler(kind string) reconcile.Reconciler {
	if l.server == nil {
		l.server = l.client()
	}
	server, w := l.server, l.world
	var cached client.Reader = server
	if w.lag != nil {
		cached = w.lag
	}
	base := kit.Base{Cached: stripped{cached}, Live: server, Writer: apply.Writer{Client: server, Live: server}, Events: warnings{w},
		Clock: skewed{w}, Logs: logs{l}}
	r := reconcilers(base, kinds.Needs{
		TransferImage: transferImage, ClusterDomain: "cluster.local", ReferencePeriod: 5 * time.Minute, Random: w.random(),
		Meter: meter{w}, Comparisons: &l.compared, Process: l.process, Started: l.started, Nodes: true,
	})[kind]
	l.remember(kind, r.Common(), r.Controller())
	return r
}

// remember gives a reconciler the writes of earlier passes of this life.
func (l *life) remember(kind string, base *kit.Base, c kit.Controller) {
	if l.written[kind] == nil {
		memory := *base
		memory.Cached = sight{l.world}
		Must(kit.Remember(&memory, store.Scheme, c))
		if l.written == nil {
			l.written = map[string]*kit.Writes{}
		}
		l.written[kind] = memory.Writes
	}
	base.Writes, base.Writer.Wrote = l.written[kind], l.written[kind].Record
}

// sight is what the cache shows. Unlike a request, a look into memory cannot fail.
type sight struct{ *World }

func (s sight) reader() client.Reader {
	if s.lag != nil {
		return s.lag
	}
	return s.Store.Server()
}

// Get reads an object.
func (s sight) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return s.reader().Get(ctx, key, object, options...)
}

// List reads objects.
func (s sight) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return s.reader().List(ctx, list, options...)
}

// warnings is a recorder that adds Warning events to the story.
type warnings struct{ *World }

// Eventf records an event.
//
//nolint:revive // the interface of Kubernetes has these arguments
func (w warnings) Eventf(_ kruntime.Object, _ kruntime.Object, kind, reason, _ string, note string, args ...any) {
	if kind == corev1.EventTypeWarning {
		w.journal.add("event", fmt.Sprintf("%s: %s", reason, fmt.Sprintf(note, args...)))
	}
}

// logs are those of the running pods.
type logs struct{ *life }

// Refusal returns the reason why a Job has no pod.
func (l logs) Refusal(_ context.Context, _ string, job types.UID) (text string, err error) {
	err = l.call(site{verb: "list", kind: "Event", object: string(job)}, func() error {
		for _, o := range store.All[*batchv1.Job](l.world.Store) {
			if o.UID == job && l.world.overQuota(&o.Spec.Template.Spec) {
				text = fmt.Sprintf(`Error creating: pods "%s-x" is forbidden: exceeded quota: compute, limited: limits.cpu=%d`, o.Name,
					l.world.disk.quota)
			}
		}
		return nil
	})
	return text, err
}

// Unready returns what the readiness probe of a member has printed.
func (l logs) Unready(_ context.Context, _ string, pod types.UID) (text string, err error) {
	err = l.call(site{verb: "list", kind: "Event", object: string(pod)}, func() error {
		for _, o := range store.All[*corev1.Pod](l.world.Store) {
			_, on := l.world.on(o)
			if o.UID == pod && !IsReady(o) && (l.world.isFull(o) || l.world.announces(o) && on.data != "") {
				text = noSpace
			}
		}
		return nil
	})
	return text, err
}

// Tail returns the output of a pod that is halfway.
func (l logs) Tail(_ context.Context, _, pod, _ string) (text string, err error) {
	err = l.call(site{verb: "get", kind: "Pod", object: pod, sub: "/log"}, func() error {
		if p := store.Get[*corev1.Pod](l.world.Store, pod); p != nil && p.Status.Phase == corev1.PodRunning {
			var line strings.Builder
			message, attributes := protocol.Progress{Bytes: 50, StoredBytes: 25, BytesPerSecond: 10}.Log()
			slog.New(slog.NewJSONHandler(&line, nil)).Info(message, attributes...)
			text = line.String()
		}
		return nil
	})
	return text, err
}
