/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// View is where a pass reads from.
type View struct {
	client.Reader
	// Fallback is a reader for objects that the first reader does not have: a cache has only selected objects, and
	// lags behind. Nil for none.
	Fallback client.Reader
	// Indexed is true if the first reader finds objects by an index.
	Indexed bool
}

// Else returns the view with a fallback.
func (v View) Else(fallback client.Reader) View {
	v.Fallback = fallback
	return v
}

// Find reads an object into the given one and reports whether it exists.
func (v View) Find(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	err := v.Get(ctx, key, object)
	if apierrors.IsNotFound(err) && v.Fallback != nil {
		err = v.Fallback.Get(ctx, key, object)
	}
	switch {
	case apierrors.IsNotFound(err) && !NoKind(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read %T %s: %w", object, key.Name, err)
	}
	return true, nil
}

// NoKind reports whether the API server does not know the kind of an object. The client keeps the path of a kind that it has found once. If
// the CRD is deleted later, no handler of the API server knows the path, and its answer names no object: it does not show that the object
// is absent.
func NoKind(err error) bool {
	return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// By selects objects of a namespace by an index, if there is one. A list by labels alone would compare every object
// of the namespace.
func (v View) By(namespace, index, value string, options ...client.ListOption) []client.ListOption {
	options = append([]client.ListOption{client.InNamespace(namespace)}, options...)
	if v.Indexed {
		options = append(options, client.MatchingFields{index: value})
	}
	return options
}

// Reading collects the objects that a pass reads for one object. After the first error it reads no more.
type Reading struct {
	View
	// Live reads objects from the API server that are not in the cache. Uncached is true if the view is of the API server, too.
	Live     client.Reader
	Uncached bool
	// Object is the object of the pass.
	Object client.Object
	Err    error
}

// Reading begins to read for an object, live or from the cache.
func (b *Base) Reading(object client.Object, live bool) Reading {
	from := b.Cache()
	if live {
		from = b.API()
	}
	return Reading{View: from, Live: b.Live, Uncached: live, Object: object}
}

// Find reads an object of the same namespace and reports whether it exists.
func (r *Reading) Find(ctx context.Context, name string, object client.Object) bool {
	return r.find(ctx, r.View, client.ObjectKey{Namespace: r.Object.GetNamespace(), Name: name}, object)
}

// FindLive does the same at the API server, for kinds that are not in the cache.
func (r *Reading) FindLive(ctx context.Context, name string, object client.Object) bool {
	return r.find(ctx, View{Reader: r.Live}, client.ObjectKey{Namespace: r.Object.GetNamespace(), Name: name}, object)
}

// FindOutside does the same for a cluster-scoped object.
func (r *Reading) FindOutside(ctx context.Context, name string, object client.Object) bool {
	return r.find(ctx, View{Reader: r.Live}, client.ObjectKey{Name: name}, object)
}

func (r *Reading) find(ctx context.Context, from View, key client.ObjectKey, object client.Object) (found bool) {
	if r.Err == nil {
		found, r.Err = from.Find(ctx, key, object)
	}
	return found
}

// List reads the objects of the same namespace that an index finds and other options select.
func (r *Reading) List(ctx context.Context, into client.ObjectList, index, value string, options ...client.ListOption) {
	if r.Err != nil {
		return
	}
	if err := r.View.List(ctx, into, r.By(r.Object.GetNamespace(), index, value, options...)...); err != nil {
		r.Err = fmt.Errorf("list %T of %s: %w", into, r.Object.GetName(), err)
	}
}
