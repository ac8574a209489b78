/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
)

// load creates and changes the clusters of a contestant in its namespace, and watches them.
type load struct {
	description
	namespace string
	client    dynamic.Interface
	resource  schema.GroupVersionResource // of the clusters
	drifting  schema.GroupVersionResource // of the objects that drift
	patience  time.Duration

	mutex    sync.Mutex
	clusters map[string]*state
	owners   map[string]string // clusters by the names of their objects that drift
}

// state is what the watches have shown of a cluster.
type state struct {
	exists  bool
	changed bool // since its creation
	ready   bool
	// conditions are those of the cluster, for messages.
	conditions []any
	pods       map[types.UID]bool // which are ready?
	drifted    bool
	repairs    int

	at      time.Time // of the last event
	waiters []waiter
}

// waiter waits until a cluster is in some state.
type waiter struct {
	done func(*state) bool
	at   chan time.Time
}

// see changes the state of a cluster after an event, and notifies those who wait for it.
func (l *load) see(name string, change func(*state)) {
	now := time.Now()
	l.mutex.Lock()
	defer l.mutex.Unlock()
	s := l.state(name)
	change(s)
	s.at = now
	var waiting []waiter
	for _, w := range s.waiters {
		if w.done(s) {
			w.at <- now
		} else {
			waiting = append(waiting, w)
		}
	}
	s.waiters = waiting
}

// state needs the mutex.
func (l *load) state(name string) *state {
	if l.clusters[name] == nil {
		l.clusters[name] = &state{pods: map[types.UID]bool{}}
	}
	return l.clusters[name]
}

// await waits until a cluster is in some state, and returns the time of the event.
func (l *load) await(ctx context.Context, name string, done func(*state) bool) (time.Time, error) {
	l.mutex.Lock()
	s := l.state(name)
	if done(s) {
		defer l.mutex.Unlock()
		return s.at, nil
	}
	w := waiter{done, make(chan time.Time, 1)}
	s.waiters = append(s.waiters, w)
	l.mutex.Unlock()
	select {
	case at := <-w.at:
		return at, nil
	case <-time.After(l.patience):
		return time.Time{}, l.late(name)
	case <-ctx.Done():
		return time.Time{}, fmt.Errorf("waiting for %s: %w", name, context.Cause(ctx))
	}
}

// late reports a cluster that does not change as expected, for example because the description is wrong.
func (l *load) late(name string) error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	s := l.state(name)
	conditions := []string{}
	for _, each := range s.conditions {
		if c, ok := each.(map[string]any); ok {
			conditions = append(conditions, fmt.Sprintf("%v=%v (%v: %v)", c["type"], c["status"], c["reason"], c["message"]))
		}
	}
	return fmt.Errorf("%s is not as expected after %s. It exists: %t. Condition %s is True for its generation: %t. All conditions: %s",
		name, l.patience, s.exists, l.Ready, s.ready, strings.Join(conditions, ", "))
}

func isReady(s *state) bool   { return s.exists && s.ready }
func isChanged(s *state) bool { return s.changed }
func isDeleted(s *state) bool { return !s.exists }

// create creates the cluster of the description.
func (l *load) create(ctx context.Context, name string) (time.Time, error) {
	object, err := l.values(name).object(l.Resource)
	if err != nil {
		return time.Time{}, err
	}
	cluster := &unstructured.Unstructured{Object: object}
	cluster.SetName(name)
	cluster.SetNamespace(l.namespace)
	now := time.Now()
	if _, err := l.objects(l.resource).Create(ctx, cluster, metav1.CreateOptions{FieldManager: fields}); err != nil {
		return time.Time{}, fmt.Errorf("create %s: %w", name, err)
	}
	return now, nil
}

// change patches an object of a cluster, and returns the time until the cluster is in some state.
func (l *load) change(ctx context.Context, object resourceName, patch map[string]any, cluster string,
	done func(*state) bool) (time.Duration, error) {
	body, err := json.Marshal(patch)
	if err != nil {
		return 0, err
	}
	from := time.Now()
	_, err = l.objects(object.GroupVersionResource).Patch(ctx, object.name, types.MergePatchType, body,
		metav1.PatchOptions{FieldManager: fields})
	if err != nil {
		return 0, fmt.Errorf("change %s: %w", object.name, err)
	}
	at, err := l.await(ctx, cluster, done)
	return at.Sub(from), err
}

// resourceName is an object in the namespace of a load.
type resourceName struct {
	schema.GroupVersionResource
	name string
}

func (l *load) objects(of schema.GroupVersionResource) dynamic.ResourceInterface {
	return l.client.Resource(of).Namespace(l.namespace)
}

// one creates a cluster and returns the time until it is ready.
func (l *load) one(ctx context.Context, name string) (time.Duration, error) {
	created, err := l.create(ctx, name)
	if err != nil {
		return 0, err
	}
	at, err := l.await(ctx, name, isReady)
	return at.Sub(created), err
}

// each calls do for a range of clusters, a limited number at a time. It returns how long each took.
func (l *load) each(ctx context.Context, which clusters, atOnce int,
	do func(context.Context, string) (time.Duration, error)) ([]time.Duration, error) {
	workers, working := errgroup.WithContext(ctx)
	workers.SetLimit(atOnce)
	took := make([]time.Duration, which.count())
	var done atomic.Int64
	go wait.UntilWithContext(working, func(context.Context) { say("  %d of %d clusters are done", done.Load(), len(took)) }, 5*time.Second)
	for n := range took {
		if working.Err() != nil {
			break
		}
		workers.Go(func() (err error) {
			took[n], err = do(working, which.name(n))
			done.Add(1)
			return err
		})
	}
	return took, cmp.Or(workers.Wait(), context.Cause(ctx))
}

// clusters are a range of the clusters of a round.
type clusters struct{ round, from, to int }

func (c clusters) count() int { return c.to - c.from }

// name has the number of the round, because a deleted cluster can leave volumes to the next one of its name.
func (c clusters) name(n int) string { return fmt.Sprintf("db-%d-%05d", c.round, c.from+n) }
