/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// phase is a part of the life of clusters that the benchmark measures for one contestant at a time.
type phase struct {
	name string
	at   at
	// possible reports whether the description of a contestant has everything that the phase needs.
	possible func(description) bool
	// act changes clusters. It returns how long each took.
	act func(context.Context, *world, *contestant, clusters) ([]time.Duration, error)
	// added is the number of members that the phase adds to each cluster.
	added int
}

// at are the sizes at which a phase takes part: by default all.
type at string

const (
	// atFirst is for phases that change pods: their cost is measured once.
	atFirst at = "first"
	atLast  at = "last"
)

// The phases with a behavior of their own.
var (
	phaseCreate = phase{name: "create", possible: always, act: create}
	// phaseRest measures all contestants at the same time.
	phaseRest    = phase{name: "rest", possible: always}
	phaseRestart = phase{name: "restart", possible: func(d description) bool { return d.Health != "" }}
	phaseDelete  = phase{name: "delete", at: atLast, possible: always, act: deleteAll}
)

// phases are in the order of their execution.
var phases = []phase{
	phaseCreate,
	phaseRest,
	{name: "rollout", at: atFirst, possible: func(d description) bool { return d.Rollout != "" }, act: rollOut},
	{name: "scale_up", at: atFirst, possible: scales, act: scaleTo(more), added: 2},
	{name: "scale_down", at: atFirst, possible: scales, act: scaleTo(members)},
	{name: "drift", possible: func(d description) bool { return d.Drift.Kind != "" }, act: driftAll},
	phaseRestart,
	phaseDelete,
}

func always(description) bool   { return true }
func scales(d description) bool { return d.Scale != "" }

func create(ctx context.Context, w *world, c *contestant, which clusters) ([]time.Duration, error) {
	took, err := c.load.each(ctx, which, w.inFlight, c.load.one)
	c.size = which.to
	return took, err
}

// rollOut restarts all members of all clusters.
func rollOut(ctx context.Context, w *world, c *contestant, which clusters) ([]time.Duration, error) {
	revision := strconv.FormatInt(time.Now().Unix(), 36)
	return w.reshape(ctx, c, which, c.load.Rollout, func(cluster *state, v values) (func(*state) bool, error) {
		v[inRevision] = revision
		return allReady(members, maps.Clone(cluster.pods))
	})
}

// scaleTo changes the number of members of all clusters.
func scaleTo(replicas string) func(context.Context, *world, *contestant, clusters) ([]time.Duration, error) {
	return func(ctx context.Context, w *world, c *contestant, which clusters) ([]time.Duration, error) {
		return w.reshape(ctx, c, which, c.load.Scale, func(_ *state, v values) (func(*state) bool, error) {
			v[inReplicas] = replicas
			return allReady(replicas, nil)
		})
	}
}

// reshape patches all clusters, and waits for their pods. The function sets values of the patch, and returns what the
// pods have to become.
func (w *world) reshape(
	ctx context.Context, c *contestant, which clusters, text string, prepare func(*state, values) (func(*state) bool, error),
) ([]time.Duration, error) {
	l := c.load
	watching, stop := context.WithCancel(ctx)
	defer l.forgetPods()
	defer stop()
	if err := l.watch(watching, schema.GroupVersionResource{Version: "v1", Resource: "pods"}, l.sawPod); err != nil {
		return nil, err
	}
	return l.each(ctx, which, w.inFlight, func(ctx context.Context, name string) (time.Duration, error) {
		v := l.values(name)
		l.mutex.Lock()
		done, err := prepare(l.state(name), v)
		l.mutex.Unlock()
		patch, patchErr := v.object(text)
		if err := errors.Join(err, patchErr); err != nil {
			return 0, err
		}
		took, err := l.change(ctx, resourceName{l.resource, name}, patch, name, done)
		if err != nil {
			return 0, fmt.Errorf("%w; pods with the label %s=%s: %d", err, l.Label, name, l.pods(name))
		}
		return took, nil
	})
}

// pods returns the number of pods of a cluster, while a phase watches them.
func (l *load) pods(name string) int {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return len(l.state(name).pods)
}

// forgetPods forgets the pods that are no longer watched.
func (l *load) forgetPods() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, s := range l.clusters {
		s.pods = map[types.UID]bool{}
	}
}

// driftAll changes an object of each cluster, and waits until the contestant has repaired it.
func driftAll(ctx context.Context, w *world, c *contestant, which clusters) ([]time.Duration, error) {
	l := c.load
	objects := map[string]string{}
	for n := range which.count() {
		name := which.name(n)
		object, err := l.values(name).fill(l.Drift.Name)
		if err != nil {
			return nil, err
		}
		objects[name] = object
		l.mutex.Lock()
		l.owners[object] = name
		l.mutex.Unlock()
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	if err := l.watch(watching, l.drifting, l.sawDrift); err != nil {
		return nil, err
	}
	return l.each(ctx, which, w.storm, func(ctx context.Context, name string) (time.Duration, error) {
		l.mutex.Lock()
		before := l.state(name).repairs
		l.mutex.Unlock()
		patch, err := l.values(name).object(l.Drift.Patch)
		if err != nil {
			return 0, err
		}
		return l.change(ctx, resourceName{l.drifting, objects[name]}, patch, name, func(s *state) bool { return s.repairs > before })
	})
}

// deleteAll deletes clusters, the youngest ones if not all, and waits until they no longer exist. Their objects are garbage-collected
// later.
func deleteAll(ctx context.Context, w *world, c *contestant, which clusters) ([]time.Duration, error) {
	l := c.load
	defer func() { c.size = which.from }()
	return l.each(ctx, which, w.inFlight, func(ctx context.Context, name string) (time.Duration, error) {
		from := time.Now()
		if err := l.objects(l.resource).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			return 0, fmt.Errorf("delete %s: %w", name, err)
		}
		at, err := l.await(ctx, name, isDeleted)
		return at.Sub(from), err
	})
}
