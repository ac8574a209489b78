/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"fmt"
	"maps"
	"time"

	libpredicate "github.com/operator-framework/operator-lib/predicate"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/conversion"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// same compares facts. Facts of a Job include results of transfer with times, on which equality.Semantic alone
// panics.
var same = func() conversion.Equalities {
	all := equality.Semantic.Copy()
	if err := all.AddFunc(time.Time.Equal); err != nil {
		panic(err)
	}
	return all
}()

// Changed passes an update if the facts that the operator reads of the object changed. It always passes creations
// and deletions.
func Changed[T client.Object](facts func(T) any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(T)
		after, alsoOK := e.ObjectNew.(T)
		return !ok || !alsoOK || !same.DeepEqual(facts(before), facts(after))
	}}
}

// Filter passes an update if the spec changed: by its generation, or by any update for a kind without one, such as
// Service. It also passes an update if the facts changed, because the operator reads more than the spec.
func Filter[T client.Object](facts func(T) T) predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, libpredicate.NoGenerationPredicate{},
		Changed(func(object T) any {
			seen := facts(object)
			seen.SetResourceVersion("")
			return seen
		}))
}

// Awaited passes an update that another predicate passes, if it wakes any object. Most clusters have no unfinished backup: then there is
// no need to compare facts. Which objects wake depends on the name and the labels of the updated object, not on its spec or status.
func Awaited(mapFunc handler.MapFunc, when predicate.Predicate) predicate.Predicate {
	return predicate.And(predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		ctx := context.Background() //nolint:forbidigo // a predicate has no context, and the functions read only the cache
		return len(mapFunc(ctx, e.ObjectNew)) > 0 || !maps.Equal(e.ObjectNew.GetLabels(), e.ObjectOld.GetLabels()) &&
			len(mapFunc(ctx, e.ObjectOld)) > 0
	}}, when)
}

// Controller declares the objects whose changes start passes for one kind.
type Controller struct {
	Name string
	// For is the kind, When selects the updates that matter, and Waits is how long they wait for others; nil for not at all.
	For   client.Object
	When  predicate.Predicate
	Delay Delay
	// Watches are the other objects whose changes start passes.
	Watches []Watch
	// Indexes are the indexes that the cache must have.
	Indexes []Index
	// Signals start passes for the objects in them; nil for none. They are about facts that no object has.
	Signals <-chan event.GenericEvent
}

// Objects are the kinds that the cache has for the controller.
func (c Controller) Objects() []client.Object {
	all := []client.Object{c.For}
	for _, w := range c.Watches {
		all = append(all, w.Object)
	}
	return all
}

// Watch is another kind of object whose changes start passes.
type Watch struct {
	Object client.Object
	// When selects the updates that matter.
	When predicate.Predicate
	// MapFunc finds the objects to reconcile; nil for the controller of the changed object.
	MapFunc handler.MapFunc
	// Delay is how long a change waits for others; nil for not at all.
	Delay Delay
}

// Index is an index of the cache. A list by labels alone would compare every object of a namespace.
type Index struct {
	Kind  client.Object
	Name  string
	Value client.IndexerFunc
}

// SetUp adds a reconciler to the manager, and its indexes to the cache.
func SetUp(ctx context.Context, mgr ctrl.Manager, r Reconciler, options controller.Options) error {
	c := r.Controller()
	r.Common().Indexed = true
	if err := Remember(r.Common(), mgr.GetScheme(), c); err != nil {
		return err
	}
	for _, i := range c.Indexes {
		if err := mgr.GetFieldIndexer().IndexField(ctx, i.Kind, i.Name, i.Value); err != nil {
			return fmt.Errorf("index %T by %s: %w", i.Kind, i.Name, err)
		}
	}
	build := ctrl.NewControllerManagedBy(mgr).Named(c.Name).WithOptions(options).
		Watches(c.For, debounced{&handler.EnqueueRequestForObject{}, c.Delay}, builder.WithPredicates(c.When))
	for _, w := range c.Watches {
		wakes := handler.EnqueueRequestForOwner(mgr.GetScheme(), mgr.GetRESTMapper(), c.For, handler.OnlyControllerOwner())
		if w.MapFunc != nil {
			wakes = handler.EnqueueRequestsFromMapFunc(w.MapFunc)
		}
		build.Watches(w.Object, debounced{wakes, w.Delay}, builder.WithPredicates(w.When))
	}
	if c.Signals != nil {
		build.WatchesRawSource(source.Channel(c.Signals, &handler.EnqueueRequestForObject{}))
	}
	return build.Complete(r)
}
