/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"fmt"
	"time"

	libpredicate "github.com/operator-framework/operator-lib/predicate"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// same compares facts. Those of a Job hold what transfer reported, with times, at which equality.Semantic alone panics.
var same = func() conversion.Equalities {
	all := equality.Semantic.Copy()
	if err := all.AddFunc(time.Time.Equal); err != nil {
		panic(err)
	}
	return all
}()

// Changed lets an update through when what the operator reads of the object changed. Creations and
// deletions always pass.
func Changed[T client.Object](facts func(T) any) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(T)
		after, alsoOK := e.ObjectNew.(T)
		return !ok || !alsoOK || !same.DeepEqual(facts(before), facts(after))
	}}
}

// Filter lets an update through when the spec changed: told by the generation, or by any update where
// the kind has none, as Service. Alone that would hide what the operator reads besides the spec, so an
// update also passes when the facts changed.
func Filter[T client.Object](facts func(T) T) predicate.Predicate {
	return predicate.Or[client.Object](predicate.GenerationChangedPredicate{}, libpredicate.NoGenerationPredicate{},
		Changed(func(object T) any {
			seen := facts(object)
			seen.SetResourceVersion("")
			return seen
		}))
}

// Index is an index of the cache: a list by labels alone would look at each object of a namespace.
type Index struct {
	Kind  client.Object
	Name  string
	Value client.IndexerFunc
}

// AddIndexes makes the cache keep indexes.
func AddIndexes(ctx context.Context, indexer client.FieldIndexer, all []Index) error {
	for _, i := range all {
		if err := indexer.IndexField(ctx, i.Kind, i.Name, i.Value); err != nil {
			return fmt.Errorf("index %T by %s: %w", i.Kind, i.Name, err)
		}
	}
	return nil
}
