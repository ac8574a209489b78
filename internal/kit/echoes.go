/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"maps"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// ownWrites recognize the updates by which the cache shows a status that the operator has written itself. They start no pass.
type ownWrites struct {
	// expected are the versions of objects that the cache does not show yet.
	expected map[client.ObjectKey]string
	// arrived are the versions that have arrived while the status of their object is being written; "" for none. It may be
	// faster than the response of the API server.
	arrived map[client.ObjectKey]string
}

func newOwnWrites() ownWrites {
	return ownWrites{map[client.ObjectKey]string{}, map[client.ObjectKey]string{}}
}

func (e ownWrites) clone() ownWrites { return ownWrites{maps.Clone(e.expected), maps.Clone(e.arrived)} }

// atOnce starts a pass for an update that has arrived meanwhile.
const atOnce = time.Nanosecond

// writeStatus writes a status. If no decision depends on the change, its arrival in the cache is not relevant. It returns the time until
// the next pass if a relevant update has arrived meanwhile; 0 for none.
func (b *Base) writeStatus(ctx context.Context, before, after client.Object, ignorable bool) (next time.Duration, err error) {
	b.Writes.writing(before)
	stored := false // also after a panic
	defer func() {
		if b.Writes.written(after, ignorable && stored) {
			next = atOnce
		}
	}()
	err = b.Writer.ChangeStatus(ctx, before, after)
	stored = err == nil
	return 0, err
}

// writing starts a write of a status. Until it is over, updates of the object start no pass.
func (w *Writes) writing(object client.Object) {
	if w == nil {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.own.arrived[client.ObjectKeyFromObject(object)] = ""
}

// written ends that, and reports whether a relevant update has arrived meanwhile. The write is locked on the version, so only the write
// itself and later updates can arrive.
func (w *Writes) written(object client.Object, ignorable bool) (relevant bool) {
	if w == nil {
		return false
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	key, version := client.ObjectKeyFromObject(object), object.GetResourceVersion()
	arrived := w.own.arrived[key]
	delete(w.own.arrived, key)
	if arrived == "" && ignorable {
		w.own.expected[key] = version
	}
	return arrived != "" && (arrived != version || !ignorable)
}

// isRelevant reports whether the update of an object starts a pass.
func (w *Writes) isRelevant(object client.Object) bool {
	if w == nil {
		return true
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	key, version := client.ObjectKeyFromObject(object), object.GetResourceVersion()
	if w.own.expected[key] == version { // it may arrive during the next write
		delete(w.own.expected, key)
		return false
	}
	if _, busy := w.own.arrived[key]; busy {
		w.own.arrived[key] = version
		return false
	}
	return true
}

// Relevant drops updates of an object that are only the status that the operator has written itself. A resync, which repeats a version,
// passes.
func (b *Base) Relevant() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() || b.Writes.isRelevant(e.ObjectNew)
	}}
}
