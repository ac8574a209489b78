/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
)

// seen is a cache with at most one Service.
type seen struct {
	client.Reader
	service *corev1.Service
}

func (s seen) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if s.service == nil {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "services"}, key.Name)
	}
	s.service.DeepCopyInto(into.(*corev1.Service))
	return nil
}

func service(uid types.UID, version string) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "orders", UID: uid, ResourceVersion: version,
		Labels: map[string]string{dbv1.LabelManagedBy: dbv1.LabelManagedByValue},
	}}
}

// remembering is a base whose cache shows what the pointer has.
func remembering(t *testing.T, cached client.Reader, clock *testingclock.FakePassiveClock) Base {
	t.Helper()
	scheme := fake.NewClientBuilder().Build().Scheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	b := Base{Cached: cached, Clock: clock, Events: events.NewFakeRecorder(10)}
	if err := Remember(&b, scheme, Controller{For: &dbv1.DatabaseCluster{}, Watches: []Watch{{Object: &corev1.Service{}}}}); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestAPassWaitsUntilTheCacheShowsTheWritesOfThePassBefore(t *testing.T) {
	terminating := service("a", "8")
	terminating.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for name, c := range map[string]struct {
		verb  apply.Effect
		cache *corev1.Service
		shown bool
	}{
		"created, and not there yet":       {apply.Created, nil, false},
		"created":                          {apply.Created, service("a", "9"), true},
		"changed, and an older version":    {apply.Changed, service("a", "8"), false},
		"changed, with fewer digits":       {apply.Changed, service("a", "10"), true},
		"changed, and deleted since":       {apply.Changed, nil, true},
		"changed, and created again since": {apply.Changed, service("b", "1"), true},
		"deleted, and still there":         {apply.Deleted, service("a", "9"), false},
		"deleted, and terminating":         {apply.Deleted, terminating, true},
		"deleted":                          {apply.Deleted, nil, true},
		"deleted, and created again since": {apply.Deleted, service("b", "12"), true},
	} {
		clock := testingclock.NewFakePassiveClock(time.Unix(100, 0))
		b, key := remembering(t, seen{service: c.cache}, clock), client.ObjectKey{Namespace: "shop", Name: "orders"}
		b.Writes.Record(b.Writes.during(t.Context(), key), c.verb, service("a", "9"))
		if got := b.Writes.shown(t.Context(), key); got != c.shown {
			t.Errorf("%s: shown is %v", name, got)
		}
		if other := (client.ObjectKey{Namespace: "shop", Name: "others"}); !b.Writes.shown(t.Context(), other) {
			t.Errorf("%s: a pass for another object waits", name)
		}
		clock.SetTime(clock.Now().Add(cacheTimeout))
		if !b.Writes.shown(t.Context(), key) {
			t.Errorf("%s: it waits for ever", name)
		}
	}
}

func TestAnEchoIsNewsIfAPassWaitsForIt(t *testing.T) {
	for _, waits := range []bool{false, true} {
		b := remembering(t, seen{}, testingclock.NewFakePassiveClock(time.Unix(100, 0)))
		written, key := service("a", "9"), client.ObjectKey{Namespace: "shop", Name: "orders"}
		b.Writes.Record(b.Writes.during(t.Context(), key), apply.Created, written)
		b.Writes.writing(written)
		b.Writes.written(written, true)
		if waits {
			b.Writes.shown(t.Context(), key)
		}
		if relevant := b.Relevant().Update(event.UpdateEvent{ObjectOld: service("a", "8"), ObjectNew: written}); relevant != waits {
			t.Errorf("a pass waits: %v: the write is relevant: %v", waits, relevant)
		}
	}
}

func TestAPassDoesNotWaitForObjectsThatTheCacheDoesNotHave(t *testing.T) {
	b, key := remembering(t, seen{}, testingclock.NewFakePassiveClock(time.Unix(100, 0))), client.ObjectKey{Namespace: "shop", Name: "orders"}
	b.Writes.Record(b.Writes.during(t.Context(), key), apply.Created, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "password"}})
	b.Writes.Record(t.Context(), apply.Created, service("a", "9")) // not by a pass
	if !b.Writes.shown(t.Context(), key) {
		t.Error("it waits")
	}
}

func TestAChangeOfTheStatusWaitsForOthersOnce(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Unix(100, 0))
	writes, key := remembering(t, seen{}, clock).Writes, client.ObjectKey{Namespace: "shop", Name: "orders"}
	for i, c := range []struct {
		after      time.Duration
		deferrable bool
		want       time.Duration
	}{
		{0, true, StatusDelay},
		{StatusDelay / 4, true, StatusDelay - StatusDelay/4}, // another change
		{StatusDelay - StatusDelay/4, true, 0},               // both are written
		{time.Millisecond, true, StatusDelay},
		{time.Millisecond, false, 0}, // a change that must not wait is written with the other one
		{0, true, StatusDelay},
	} {
		clock.SetTime(clock.Now().Add(c.after))
		if got := writes.wait(key, c.deferrable); got != c.want {
			t.Errorf("step %d: waits %s, want %s", i, got, c.want)
		}
	}
}

func TestAPassDecidesAgainAfterALiveReadIfANameIsTaken(t *testing.T) {
	taken := apierrors.NewAlreadyExists(schema.GroupResource{Resource: "services"}, "orders")
	object := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "now"}}
	scheme := fake.NewClientBuilder().Build().Scheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build()
	kind := &count{plan: todo{all: list(op{name: "a"})}, err: taken}
	base := Base{Cached: server, Live: server, Writer: apply.Writer{Client: server}, Events: events.NewFakeRecorder(10)}
	_, err := Reconcile(t.Context(), &base, kind, client.ObjectKeyFromObject(object))
	if len(kind.live) != 2 || kind.live[0] || !kind.live[1] || !apierrors.IsAlreadyExists(err) {
		t.Errorf("reads %v, %v: want one from the cache and one live read, and another attempt later", kind.live, err)
	}
}

func TestAnotherPassFollowsAWriteThatNoWatchShows(t *testing.T) {
	yes := true
	mine, others := service("a", "9"), service("b", "9")
	mine.OwnerReferences = []metav1.OwnerReference{{Kind: "DatabaseCluster", Name: "orders", Controller: &yes}}
	unlabeled := mine.DeepCopy()
	unlabeled.Labels = nil
	for name, c := range map[string]struct {
		verb   apply.Effect
		object client.Object
		cache  *corev1.Service
		looks  bool
	}{
		"a kind that is not watched":               {apply.Changed, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "password"}}, nil, true},
		"an object that is watched":                {apply.Created, mine, nil, false},
		"an object of another owner":               {apply.Changed, others, nil, true},
		"an object that the cache does not select": {apply.Created, unlabeled, nil, true},
		"a deletion that the cache will show":      {apply.Deleted, service("a", "9"), mine, false},
		"a deletion that it will not show":         {apply.Deleted, service("a", "9"), nil, true},
	} {
		b, key := remembering(t, seen{service: c.cache}, testingclock.NewFakePassiveClock(time.Unix(100, 0))), client.ObjectKey{Namespace: "shop", Name: "orders"}
		b.Writes.Record(b.Writes.during(t.Context(), key), c.verb, c.object)
		if got := b.Writes.looks(key); got != c.looks {
			t.Errorf("%s: another pass follows: %v", name, got)
		}
		b.Writes.during(t.Context(), key)
		if b.Writes.looks(key) {
			t.Errorf("%s: passes follow for ever", name)
		}
	}
}

// The cache selects ConfigMaps by the label of the manager, which the agreement of members does not have.
func TestAPassDoesNotWaitForAnObjectThatTheCacheDoesNotSelect(t *testing.T) {
	b, key := remembering(t, seen{}, testingclock.NewFakePassiveClock(time.Unix(100, 0))), client.ObjectKey{Namespace: "shop", Name: "orders"}
	unlabeled := service("a", "9")
	unlabeled.Labels = nil
	b.Writes.Record(b.Writes.during(t.Context(), key), apply.Created, unlabeled)
	if !b.Writes.shown(t.Context(), key) {
		t.Error("the pass waits")
	}
}

func TestAResyncIsNewsAndADeletedObjectIsForgotten(t *testing.T) {
	b, key := remembering(t, seen{}, testingclock.NewFakePassiveClock(time.Unix(100, 0))), client.ObjectKey{Namespace: "shop", Name: "orders"}
	cluster := service("a", "7")
	b.Writes.writing(cluster)
	b.Writes.written(cluster, true)
	b.Writes.wait(key, true)
	if !b.Relevant().Update(event.UpdateEvent{ObjectOld: cluster, ObjectNew: cluster}) {
		t.Error("the resync of an unchanged object is dropped")
	}
	b.Writes.forget(key)
	if len(b.Writes.own.expected)+len(b.Writes.waiting)+len(b.Writes.pending)+len(b.Writes.unseen) > 0 {
		t.Errorf("left: %v, %v, %v", b.Writes.own, b.Writes.waiting, b.Writes.pending)
	}
}

type patient struct{ count }

func (p *patient) Deferrable(_, _ *dbv1.DatabaseBackup) bool { return true }

// The next pass comes with the back-off, which may take a minute.
func TestAPassThatFailsWritesTheStatusAtOnce(t *testing.T) {
	object := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "now"}}
	scheme := fake.NewClientBuilder().Build().Scheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build()
	key := client.ObjectKeyFromObject(object)
	if err := server.Get(t.Context(), key, object); err != nil {
		t.Fatal(err)
	}
	b := Base{Cached: server, Writer: apply.Writer{Client: server}, Events: events.NewFakeRecorder(10), Clock: testingclock.NewFakePassiveClock(time.Unix(100, 0))}
	if err := Remember(&b, scheme, Controller{For: object}); err != nil {
		t.Fatal(err)
	}
	_, err := Reconcile(t.Context(), &b, &patient{count{plan: todo{all: list(op{name: "a"})}, err: errors.New("broken")}}, key)
	stored := &dbv1.DatabaseBackup{}
	if err := server.Get(t.Context(), key, stored); err != nil {
		t.Fatal(err)
	}
	if stored.Status.Message == "" {
		t.Errorf("the status is not written: %v", err)
	}
}
