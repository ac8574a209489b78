/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
)

// Writes are the writes of passes that the cache may not show yet. The next pass for the same object waits for them. Without that, it
// would create an object again, or send a status that the API server refuses. They are only in memory: after a restart the cache is
// as new as the API server, and every write has its own precondition anyway.
type Writes struct {
	cached  client.Reader
	scheme  *runtime.Scheme
	clock   clock.PassiveClock
	watched map[schema.GroupVersionKind]bool
	// owned are the watched kinds of which a change starts a pass only for the owner.
	owned map[schema.GroupVersionKind]bool

	mutex   sync.Mutex
	pending map[client.ObjectKey][]write
	// unseen are the objects whose last pass has written something that no watch shows.
	unseen map[client.ObjectKey]bool
	// waiting is since when a change of a status waits for others.
	waiting map[client.ObjectKey]time.Time
	own     ownWrites
}

// write is an object that a pass has written.
type write struct {
	kind    schema.GroupVersionKind
	key     client.ObjectKey
	uid     types.UID
	version string
	how     apply.Effect
	at      time.Time
}

const (
	// cacheTimeout is how long a pass waits for the cache at most.
	cacheTimeout = 5 * time.Second
	// catchUpDelay is the time until the next pass, if the arrival of the writes does not start one before.
	catchUpDelay = 200 * time.Millisecond
	// lookAgain is the time until the pass that follows a write of an object that no watch shows, such as a Secret.
	lookAgain = time.Second
)

// Remember lets the passes of a controller wait until the cache shows the writes of the passes before.
func Remember(b *Base, scheme *runtime.Scheme, c Controller) error {
	w := &Writes{
		cached: b.Cached, scheme: scheme, clock: b.Clock, watched: map[schema.GroupVersionKind]bool{}, owned: map[schema.GroupVersionKind]bool{},
		pending: map[client.ObjectKey][]write{}, unseen: map[client.ObjectKey]bool{}, waiting: map[client.ObjectKey]time.Time{},
		own: newOwnWrites(),
	}
	for i, object := range c.Objects() {
		kind, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return fmt.Errorf("find the kind of %T: %w", object, err)
		}
		w.watched[kind] = true
		w.owned[kind] = i > 0 && c.Watches[i-1].MapFunc == nil
	}
	b.Writes, b.Writer.Wrote = w, w.Record
	return nil
}

// Copy returns the same memory of another operator, with its own cache and clock.
func (w *Writes) Copy(cached client.Reader, clock clock.PassiveClock) *Writes {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return &Writes{
		cached: cached, scheme: w.scheme, clock: clock, watched: w.watched, owned: w.owned,
		pending: maps.Clone(w.pending), unseen: maps.Clone(w.unseen), waiting: maps.Clone(w.waiting), own: w.own.clone(),
	}
}

type passKey struct{}

// during returns the context of a pass for an object.
func (w *Writes) during(ctx context.Context, key client.ObjectKey) context.Context {
	if w == nil {
		return ctx
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.unseen, key)
	return context.WithValue(ctx, passKey{}, key)
}

// Record remembers a write of a pass.
func (w *Writes) Record(ctx context.Context, how apply.Effect, object client.Object) {
	key, passes := ctx.Value(passKey{}).(client.ObjectKey)
	if !passes {
		return
	}
	kind, err := apiutil.GVKForObject(object, w.scheme)
	shown := err == nil && w.starts(ctx, key, kind, how, object)
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.unseen[key] = w.unseen[key] || !shown
	if err != nil || !w.watched[kind] || how == apply.Created && !cacheable(kind, object) {
		return
	}
	now := write{
		kind: kind, key: client.ObjectKeyFromObject(object), uid: object.GetUID(), version: object.GetResourceVersion(), how: how,
		at: w.clock.Now(),
	}
	older := func(p write) bool { return p.kind == now.kind && p.key == now.key }
	w.pending[key] = append(slices.DeleteFunc(w.pending[key], older), now)
}

// starts reports whether a write starts a pass for the object of the pass that wrote it: its kind is watched, the cache selects it, and the
// watch finds the object of the pass. The answer of the API server to a deletion has no metadata, so that of the cache counts.
func (w *Writes) starts(ctx context.Context, key client.ObjectKey, kind schema.GroupVersionKind, how apply.Effect,
	object client.Object) bool {
	if !w.watched[kind] {
		return false
	}
	if how == apply.Deleted {
		seen, err := w.scheme.New(kind)
		if err != nil {
			return false
		}
		cached, _ := seen.(client.Object)
		if w.cached.Get(ctx, client.ObjectKeyFromObject(object), cached, client.UnsafeDisableDeepCopy) != nil {
			return false
		}
		object = cached
	}
	owner := metav1.GetControllerOfNoCopy(object)
	return cacheable(kind, object) && (!w.owned[kind] || owner != nil && owner.Name == key.Name)
}

// looks reports whether another pass has to follow the last one for an object, because it wrote something that no watch shows.
func (w *Writes) looks(key client.ObjectKey) bool {
	if w == nil {
		return false
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.unseen[key]
}

// cacheable reports whether the cache selects an object: it has the label of the operator, or is of a kind of the operator.
func cacheable(kind schema.GroupVersionKind, object client.Object) bool {
	return kind.Group == dbv1.GroupVersion.Group || object.GetLabels()[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue
}

// forget removes the memory of an object that no longer exists.
func (w *Writes) forget(key client.ObjectKey) {
	if w == nil {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	delete(w.pending, key)
	delete(w.unseen, key)
	delete(w.waiting, key)
	delete(w.own.expected, key)
}

// shown reports whether the cache shows all writes of the previous passes for an object. If not, their arrival starts a pass.
func (w *Writes) shown(ctx context.Context, key client.ObjectKey) bool {
	if w == nil {
		return true
	}
	w.mutex.Lock()
	pending := slices.Clone(w.pending[key])
	w.mutex.Unlock()
	pending = slices.DeleteFunc(pending, func(p write) bool { return w.has(ctx, p) })
	late := func(p write) bool { return w.clock.Since(p.at) >= cacheTimeout }
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if slices.ContainsFunc(pending, late) { // the pass decides without the write, so its arrival starts a pass
		pending = slices.DeleteFunc(pending, late)
		delete(w.own.expected, key)
	}
	if len(pending) == 0 {
		delete(w.pending, key)
		return true
	}
	w.pending[key] = pending
	delete(w.own.expected, key)
	return false
}

// wait returns the time that a change of a status still waits; 0 if it must be written now, or if there is none.
func (w *Writes) wait(key client.ObjectKey, deferrable bool) time.Duration {
	if w == nil {
		return 0
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	since, waits := w.waiting[key]
	if !waits {
		since = w.clock.Now()
	}
	if rest := StatusDelay - w.clock.Since(since); deferrable && rest > 0 {
		w.waiting[key] = since
		return rest
	}
	delete(w.waiting, key)
	return 0
}

// has reports whether the cache shows a write, or something newer.
func (w *Writes) has(ctx context.Context, p write) bool {
	object, err := w.scheme.New(p.kind)
	if err != nil {
		return true
	}
	seen, _ := object.(client.Object)
	err = w.cached.Get(ctx, p.key, seen, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		return p.how != apply.Created
	case err != nil || seen.GetUID() != p.uid:
		return true
	case p.how == apply.Deleted:
		return seen.GetDeletionTimestamp() != nil
	}
	order, err := resourceversion.CompareResourceVersion(seen.GetResourceVersion(), p.version)
	return err != nil || order >= 0
}
