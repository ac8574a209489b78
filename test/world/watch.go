/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// watched is one watch of a controller.
type watched struct {
	kind  string
	index int
}

// notify triggers the passes for a change, by the watches of the operator's controllers.
// A change during a pass arrives after it.
func (w *World) notify(c store.Change) {
	if w.life.passing {
		if w.by == operator && !strings.HasSuffix(w.life.verb, statusOf) && !onlyManagers(c) {
			w.life.wrote = store.Ref(c.Object())
		}
		w.life.missed = append(w.life.missed, c)
		return
	}
	if c = cached(c); c == (store.Change{}) {
		return
	}
	for kind, controller := range Controllers(w.Store, w.life.written) {
		if concerns(controller.For, controller.When, c) {
			w.wakes(item{kind, c.Object().GetName()})
		}
		for i, watch := range controller.Watches {
			if w.muted == (watched{kind, i}) || !concerns(watch.Object, watch.When, c) {
				continue
			}
			if owner := metav1.GetControllerOfNoCopy(c.Object()); watch.MapFunc == nil && owner != nil && owner.Kind == kind {
				w.wakes(item{kind, owner.Name})
			}
			if watch.MapFunc == nil {
				continue
			}
			for _, request := range watch.MapFunc(context.Background(), c.Object()) {
				w.wakes(item{kind, request.Name})
			}
		}
	}
}

// onlyManagers reports whether a change concerns only who manages which field. Only the next write reads that.
func onlyManagers(c store.Change) bool {
	if c.Before == nil || c.After == nil {
		return false
	}
	before, after := c.Before.DeepCopyObject().(client.Object), c.After.DeepCopyObject().(client.Object)
	for _, o := range []client.Object{before, after} {
		o.SetManagedFields(nil)
		o.SetResourceVersion("")
	}
	return equality.Semantic.DeepEqual(before, after)
}

// Mute takes the events of one of the watches of a controller away.
func (w *World) Mute(kind string, watch int) { w.muted = watched{kind, watch} }

// cached is a change as the cache shows it: the operator's cache has its own kinds, and objects with its label.
func cached(c store.Change) (shown store.Change) {
	if c.Before != nil && selected(c.Before) {
		shown.Before = c.Before
	}
	if c.After != nil && selected(c.After) {
		shown.After = c.After
	}
	return shown
}

func selected(object client.Object) bool {
	switch object.(type) {
	case *policyv1.PodDisruptionBudget, *corev1.Node:
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
func (w *World) watchFollowing(it item) {
	q := w.queues[it]
	if late := q.due.IsZero() || q.due.Sub(w.Clock.Now()) > follow; w.life.wrote == "" || q.woken || !late || !w.exists(it) {
		return
	}
	w.Breaks("no pass of %s %s follows the write of %s", it.kind, it.name, w.life.wrote)
}

func (w *World) exists(it item) bool {
	return slices.ContainsFunc(w.Store.Sorted(), func(object client.Object) bool { return store.Ref(object) == it.kind+" "+it.name })
}

func (w *World) wakes(it item) {
	q := w.queue(it)
	q.woken = true
	w.queues[it] = q
}

// concerns reports whether a watch of a kind of object lets a change through.
func concerns(kind client.Object, when predicate.Predicate, c store.Change) bool {
	switch {
	case reflect.TypeOf(kind) != reflect.TypeOf(c.Object()):
		return false
	case c.Before == nil:
		return when.Create(event.CreateEvent{Object: c.After})
	case c.After == nil:
		return when.Delete(event.DeleteEvent{Object: c.Before})
	default:
		return when.Update(event.UpdateEvent{ObjectOld: c.Before, ObjectNew: c.After})
	}
}
