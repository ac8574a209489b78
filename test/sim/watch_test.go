/*
SPDX-License-Identifier: Apache-2.0
*/

package sim

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// watched is one watch of a controller.
type watched struct {
	kind  string
	index int
}

// notify triggers the passes for a change, by the watches of the operator's controllers.
// A change during a pass arrives after it.
func (w *world) notify(c change) {
	if w.life.passing {
		if w.by == operator && !strings.HasSuffix(w.life.verb, statusOf) {
			w.life.wrote = ref(c.object())
		}
		w.life.missed = append(w.life.missed, c)
		return
	}
	if c = cached(c); c == (change{}) {
		return
	}
	for kind, controller := range controllers(w.store, w.life.written) {
		if concerns(controller.For, controller.When, c) {
			w.wakes(item{kind, c.object().GetName()})
		}
		for i, watch := range controller.Watches {
			if w.muted == (watched{kind, i}) || !concerns(watch.Object, watch.When, c) {
				continue
			}
			if owner := metav1.GetControllerOfNoCopy(c.object()); watch.MapFunc == nil && owner != nil && owner.Kind == kind {
				w.wakes(item{kind, owner.Name})
			}
			if watch.MapFunc == nil {
				continue
			}
			for _, request := range watch.MapFunc(context.Background(), c.object()) {
				w.wakes(item{kind, request.Name})
			}
		}
	}
}

// mute takes the events of one of the watches of a controller away.
func (w *world) mute(kind string, watch int) { w.muted = watched{kind, watch} }

// cached is a change as the cache shows it: the operator's cache has its own kinds, and objects with its label.
func cached(c change) (shown change) {
	if c.before != nil && selected(c.before) {
		shown.before = c.before
	}
	if c.after != nil && selected(c.after) {
		shown.after = c.after
	}
	return shown
}

func selected(object client.Object) bool {
	switch object.(type) {
	case *policyv1.PodDisruptionBudget:
		return true
	case *corev1.Pod: // a member that has lost the label still serves clients
		return object.GetLabels()[dbv1.LabelName] == dbv1.LabelNameValue
	default:
		return isReconciled(object) || object.GetLabels()[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue
	}
}

// follow is how soon another pass has to follow one that has written something. No watch may show the write.
const follow = 5 * time.Second

// watchFollowing checks that a pass follows each write: a watch has shown it, or the pass asked for another one.
func (w *world) watchFollowing(it item) {
	q := w.queues[it]
	if late := q.due.IsZero() || q.due.Sub(w.clock.Now()) > follow; w.life.wrote == "" || q.woken || !late || !w.exists(it) {
		return
	}
	w.breaks("no pass of %s %s follows the write of %s", it.kind, it.name, w.life.wrote)
}

func (w *world) exists(it item) bool {
	return slices.ContainsFunc(w.store.sorted(), func(object client.Object) bool { return ref(object) == it.kind+" "+it.name })
}

func (w *world) wakes(it item) {
	q := w.queue(it)
	q.woken = true
	w.queues[it] = q
}

// concerns reports whether a watch of a kind of object lets a change through.
func concerns(kind client.Object, when predicate.Predicate, c change) bool {
	switch {
	case reflect.TypeOf(kind) != reflect.TypeOf(c.object()):
		return false
	case c.before == nil:
		return when.Create(event.CreateEvent{Object: c.after})
	case c.after == nil:
		return when.Delete(event.DeleteEvent{Object: c.before})
	default:
		return when.Update(event.UpdateEvent{ObjectOld: c.before, ObjectNew: c.after})
	}
}
