/*
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// load creates clusters in one namespace and watches until they are Ready.
type load struct {
	client    client.WithWatch
	namespace string
	lost      chan struct{} // closed when the watch has ended

	mutex  sync.Mutex
	births map[string]*birth
}

// birth is a cluster that is not Ready yet. Each channel receives one time.
type birth struct {
	created        time.Time
	touched, ready chan time.Time
}

func newLoad(ctx context.Context, c client.WithWatch, namespace string) (*load, error) {
	events, err := c.Watch(ctx, &dbv1.DatabaseClusterList{}, client.InNamespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("watch clusters: %w", err)
	}
	l := &load{client: c, namespace: namespace, lost: make(chan struct{}), births: map[string]*birth{}}
	go func() {
		defer close(l.lost)
		for event := range events.ResultChan() {
			l.see(event)
		}
	}()
	return l, nil
}

func (l *load) see(event watch.Event) {
	now := time.Now()
	cluster, ok := event.Object.(*dbv1.DatabaseCluster)
	if !ok {
		return
	}
	l.mutex.Lock()
	b := l.births[cluster.Name]
	l.mutex.Unlock()
	if b == nil {
		return
	}
	if event.Type == watch.Modified {
		note(b.touched, now)
	}
	if meta.IsStatusConditionTrue(cluster.Status.Conditions, dbv1.ConditionReady) {
		note(b.ready, now)
	}
}

// note records the first time.
func note(when chan<- time.Time, now time.Time) {
	select {
	case when <- now:
	default:
	}
}

// await waits for the value of a channel of a birth.
func (l *load) await(ctx context.Context, when <-chan time.Time) (time.Time, error) {
	select {
	case at := <-when:
		return at, nil
	case <-l.lost:
		return time.Time{}, errors.New("the watch of clusters has ended")
	case <-ctx.Done():
		return time.Time{}, context.Cause(ctx)
	}
}

// create creates the smallest cluster: four fields.
func (l *load) create(ctx context.Context, name string) (*birth, error) {
	b := &birth{created: time.Now(), touched: make(chan time.Time, 1), ready: make(chan time.Time, 1)}
	l.mutex.Lock()
	l.births[name] = b
	l.mutex.Unlock()
	err := l.client.Create(ctx, &dbv1.DatabaseCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name},
		Spec: dbv1.DatabaseClusterSpec{
			Replicas:  3,
			Image:     "example.test/database:1",
			Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}},
			Storage:   dbv1.Storage{Size: resource.MustParse("1Gi")},
		},
	})
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", name, err)
	}
	return b, nil
}

// one creates a cluster and returns the time until it is Ready.
func (l *load) one(ctx context.Context, name string) (time.Duration, error) {
	b, err := l.create(ctx, name)
	if err != nil {
		return 0, err
	}
	at, err := l.await(ctx, b.ready)
	if err != nil {
		return 0, fmt.Errorf("%s is not Ready: %w", name, err)
	}
	return at.Sub(b.created), nil
}

// many creates the clusters in a range, a limited number at a time. It returns the time until each was Ready.
func (l *load) many(ctx context.Context, from, to, inFlight int) ([]time.Duration, error) {
	makers, making := errgroup.WithContext(ctx)
	makers.SetLimit(inFlight)
	took := make([]time.Duration, to-from)
	var ready atomic.Int64
	go wait.UntilWithContext(making, func(context.Context) { say("  %d of %d are Ready", ready.Load(), to-from) }, 5*time.Second)
	for n := from; n < to && making.Err() == nil; n++ {
		makers.Go(func() (err error) {
			took[n-from], err = l.one(making, fmt.Sprintf("db-%05d", n))
			ready.Add(1)
			return err
		})
	}
	return took, cmp.Or(makers.Wait(), context.Cause(ctx))
}
