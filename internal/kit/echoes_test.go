/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
)

func TestAnUpdateDuringAWriteIsRelevantUnlessItIsTheOwnWrite(t *testing.T) {
	for name, c := range map[string]struct {
		arrives   []string
		ignorable bool
		relevant  bool // the write reports that a pass must follow
	}{
		"nothing arrives":                       {nil, true, false},
		"the write is faster than the response": {[]string{"9"}, true, false},
		"the write, and a later change":         {[]string{"9", "10"}, true, true},
		"only a later change is noticed":        {[]string{"10"}, true, true},
		"decisions depend on the status":        {[]string{"9"}, false, true},
		"the write fails":                       {[]string{"10"}, false, true},
	} {
		b := remembering(t, seen{}, testingclock.NewFakePassiveClock(time.Unix(100, 0)))
		written := service("a", "9")
		b.Writes.writing(service("a", "8"))
		for _, version := range c.arrives {
			if b.Relevant().Update(event.UpdateEvent{ObjectOld: service("a", "8"), ObjectNew: service("a", version)}) {
				t.Errorf("%s: version %s starts a pass before the write is over", name, version)
			}
		}
		if relevant := b.Writes.written(written, c.ignorable); relevant != c.relevant {
			t.Errorf("%s: a pass follows: %v, want %v", name, relevant, c.relevant)
		}
		late := b.Relevant().Update(event.UpdateEvent{ObjectOld: service("a", "8"), ObjectNew: written})
		if want := len(c.arrives) > 0 || !c.ignorable; late != want {
			t.Errorf("%s: version 9 is relevant afterwards: %v, want %v", name, late, want)
		}
	}
}

func TestAnOwnWriteThatArrivesDuringTheNextWriteIsNotRelevant(t *testing.T) {
	b := remembering(t, seen{}, testingclock.NewFakePassiveClock(time.Unix(100, 0)))
	b.Writes.writing(service("a", "8"))
	b.Writes.written(service("a", "9"), true)
	b.Writes.writing(service("a", "9"))
	if b.Relevant().Update(event.UpdateEvent{ObjectOld: service("a", "8"), ObjectNew: service("a", "9")}) {
		t.Error("the first write is relevant")
	}
	if b.Writes.written(service("a", "10"), true) {
		t.Error("the first write counts as an update by another client")
	}
	if b.Relevant().Update(event.UpdateEvent{ObjectOld: service("a", "9"), ObjectNew: service("a", "10")}) {
		t.Error("the second write is relevant")
	}
}

func TestAnOwnWriteIsRelevantIfAPassDecidedWithoutIt(t *testing.T) {
	clock := testingclock.NewFakePassiveClock(time.Unix(100, 0))
	b, key := remembering(t, seen{service: service("a", "8")}, clock), client.ObjectKey{Namespace: "shop", Name: "orders"}
	written := service("a", "9")
	b.Writes.Record(b.Writes.during(t.Context(), key), apply.Changed, written)
	b.Writes.writing(service("a", "8"))
	b.Writes.written(written, true)
	clock.SetTime(clock.Now().Add(cacheTimeout))
	if !b.Writes.shown(t.Context(), key) {
		t.Fatal("the pass waits for ever")
	}
	if !b.Relevant().Update(event.UpdateEvent{ObjectOld: service("a", "8"), ObjectNew: written}) {
		t.Error("the late write starts no pass")
	}
}

// A pass that fails is repeated after up to a minute. The update may correct the cause, or delete the object.
func TestAnUpdateDuringTheWriteOfAFailingPassStartsOneAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		operation, write error
		panics           bool
	}{
		"the operation fails": {operation: errors.New("forbidden")},
		"the write fails":     {write: errors.New("unavailable")},
		"both succeed":        {},
		"the write panics":    {panics: true},
	} {
		object := &dbv1.DatabaseBackup{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "now"}}
		scheme := fake.NewClientBuilder().Build().Scheme()
		if err := dbv1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		server, key := fake.NewClientBuilder().WithScheme(scheme).WithObjects(object).WithStatusSubresource(object).Build(), client.ObjectKeyFromObject(object)
		if err := server.Get(t.Context(), key, object); err != nil {
			t.Fatal(err)
		}
		b := Base{Cached: server, Events: events.NewFakeRecorder(10), Clock: testingclock.NewFakePassiveClock(time.Unix(100, 0))}
		b.Writer.Client = interceptor.NewClient(server, interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, s client.Client, sub string, o client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				if c.panics {
					panic("of the client")
				}
				corrected := object.DeepCopy()
				corrected.ResourceVersion, corrected.Generation = "5000", 2
				if b.Relevant().Update(event.UpdateEvent{ObjectOld: object, ObjectNew: corrected}) {
					t.Errorf("%s: the update starts a pass before the write is over", name)
				}
				if c.write != nil {
					return c.write
				}
				return s.SubResource(sub).Patch(ctx, o, patch, options...)
			},
		})
		if err := Remember(&b, scheme, Controller{For: object}); err != nil {
			t.Fatal(err)
		}
		kind := &count{plan: todo{all: list(op{name: "a"})}, err: c.operation}
		func() {
			defer func() {
				if recover() == nil == c.panics {
					t.Errorf("%s: panics: %v", name, !c.panics)
				}
			}()
			result, err := Reconcile(t.Context(), &b, kind, key)
			if err != nil || result.RequeueAfter != atOnce || result.Priority == nil || *result.Priority != 0 {
				t.Errorf("%s: the next pass comes with %+v and %v", name, result, err)
			}
		}()
		if len(b.Writes.own.arrived)+len(b.Writes.own.expected) > 0 {
			t.Errorf("%s: left are %v and %v", name, b.Writes.own.arrived, b.Writes.own.expected)
		}
	}
}
