/*
SPDX-License-Identifier: Apache-2.0
*/

package world

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/objects"
	"github.com/dbcluster/databasecluster-operator/test/world/store"
)

// site is one call of the operator: request, line of code, and count. Unlike a number over all calls, it does not
// change if previous calls differ.
type site struct {
	verb, kind, object, sub, caller string
	nth                             int
}

// statusOf is the end of the verb of a write of a status.
const statusOf = "/status"

// dryRun is the subresource that marks a dry run.
const dryRun = "/dry-run"

func (s site) writes() bool { return s.verb != "get" && s.verb != "list" && s.sub != dryRun }

// String names the call.
func (s site) String() string {
	return fmt.Sprintf("%s %s %s%s at %s #%d", s.verb, s.kind, s.object, s.sub, s.caller, s.nth)
}

// Failure is the kind of a failed call.
type Failure string

const (
	errorBefore Failure = "error before"  // refused for now, without effect
	errorAfter  Failure = "response lost" // the call takes effect, the operator gets an error
	conflict    Failure = "conflict"      // refused because the object has changed
	forbidden   Failure = "forbidden"     // refused, as by a quota
	crashBefore Failure = "crash before"  // the operator crashes before the call
	crashAfter  Failure = "crash after"   // the operator crashes after the call, before the response
	meanwhile   Failure = "world goes on" // all other actors act between the last call of the operator and this one
)

// fault is one failure at one call.
type fault struct {
	At   site
	Kind Failure
	done bool
}

// life is the operator from a start to the next crash. It makes no call after the crash.
type life struct {
	world *World
	// process is the name of the process, and started when it started.
	process string
	started time.Time
	// server is the API server as the operator reaches it.
	server client.WithWatch
	dead   bool
	// at is the object of the pass.
	at item
	// verb is the verb of the current request.
	verb string
	// writes is the number of requests that would change something.
	writes int
	// passing is true during a pass, and missed are the changes since its start.
	passing bool
	missed  []store.Change
	// wrote is the last object that the pass has written, without those of which it wrote only the status; "" for none.
	wrote string
	// written are the writes that the cache may not show yet, by kind of the reconciled object.
	written map[string]*kit.Writes
	// compared is what the passes of this life have compared.
	compared objects.Comparisons
}

// call passes a call on, or fails it as the fault requires.
func (l *life) call(at site, do func() error) error {
	if l.dead {
		runtime.Goexit()
	}
	w := l.world
	at.caller = caller()
	at = w.note(at)
	if at.writes() {
		l.writes++
	}
	kind := w.fails(at)
	switch kind {
	case crashBefore:
		l.end()
	case errorBefore, conflict, forbidden:
		return failureOf(kind, at)
	case meanwhile:
		w.othersAct()
	case errorAfter, crashAfter, "":
	}
	l.verb = at.verb + at.sub
	err := do()
	switch kind {
	case errorAfter:
		return failureOf(kind, at)
	case crashAfter:
		l.end()
	case errorBefore, conflict, forbidden, crashBefore, meanwhile, "":
	}
	return err
}

// end is a crash: this call and deferred calls stop.
func (l *life) end() {
	l.dead = true
	runtime.Goexit()
}

// note counts a call and adds it to the trace.
func (w *World) note(at site) site {
	w.sites[at]++
	at.nth = w.sites[at]
	w.trace = append(w.trace, at)
	return at
}

func (w *World) fails(at site) Failure {
	if w.fault == nil || w.fault.done || w.fault.At != at {
		return ""
	}
	w.fault.done = true
	w.journal.add("fault", fmt.Sprintf("%s: %s", w.fault.Kind, at))
	return w.fault.Kind
}

// othersAct lets all actors act twice during a pass, including other passes of the operator.
func (w *World) othersAct() {
	for range 2 {
		for _, a := range w.actors {
			if a.name != operator {
				w.by = a.name
				a.step(w)
			}
		}
	}
	w.by = operator
	for _, it := range w.items() {
		if l := w.life; it != l.at && !l.dead {
			at, wrote := l.at, l.wrote
			w.reconcile(it)
			l.at, l.wrote, l.passing = at, wrote, true
		}
	}
}

func failureOf(kind Failure, at site) error {
	resource := schema.GroupResource{Resource: strings.ToLower(at.kind)}
	switch kind {
	case conflict:
		return apierrors.NewConflict(resource, at.object, fmt.Errorf("changed meanwhile"))
	case forbidden:
		return apierrors.NewForbidden(resource, at.object, fmt.Errorf("exceeded quota"))
	case errorAfter:
		return apierrors.NewTimeoutError("the response was lost", 1)
	case errorBefore, crashBefore, crashAfter, meanwhile:
	}
	return apierrors.NewInternalError(fmt.Errorf("the API server is away"))
}

// caller is the calling line of the operator: the first frame outside package kit, whose functions send the requests of all others.
func caller() string {
	pcs := make([]uintptr, 48)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for {
		frame, more := frames.Next()
		_, function, found := strings.Cut(frame.Function, "/databasecluster-operator/internal/")
		if found && !strings.HasPrefix(function, "kit.") {
			return fmt.Sprintf("%s:%d", function, frame.Line)
		}
		if !more {
			return "?"
		}
	}
}

// of returns the site of a call for an object, without the calling line.
func of(verb, sub string, object kruntime.Object) site {
	at := site{verb: verb, kind: object.GetObjectKind().GroupVersionKind().Kind, sub: sub}
	if kinds, _, err := store.Scheme.ObjectKinds(object); err == nil {
		at.kind = kinds[0].Kind
	}
	if named, ok := object.(client.Object); ok {
		at.object = named.GetName()
	}
	return at
}

// Applied is an apply configuration as an object.
func Applied(configuration kruntime.ApplyConfiguration) *unstructured.Unstructured {
	content, err := kruntime.DefaultUnstructuredConverter.ToUnstructured(configuration)
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// client is the operator's client. It has a function for every kind of request: faults could not hit a missing one.
func (l *life) client() client.WithWatch {
	server := l.world.Store.Server()
	if l.world.Plant != nil {
		return l.world.Plant(interceptor.NewClient(server, l.functions()))
	}
	return interceptor.NewClient(server, l.functions())
}

func (l *life) functions() interceptor.Funcs {
	f := interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			at := of("get", "", object)
			at.object = key.Name
			return l.call(at, func() error { return c.Get(ctx, key, object, options...) })
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			return l.call(of("list", "", list), func() error { return c.List(ctx, list, options...) })
		},
		Watch: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) (watch.Interface, error) {
			return nil, fmt.Errorf("a pass must not watch")
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			sub := ""
			if len((&client.CreateOptions{}).ApplyOptions(options).DryRun) > 0 {
				sub = dryRun
			}
			return l.call(of("create", sub, object), func() error { return c.Create(ctx, object, options...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			return l.call(of("update", "", object), func() error { return c.Update(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return l.call(of("patch", "", object), func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, configuration kruntime.ApplyConfiguration, options ...client.ApplyOption) error {
			return l.call(of("apply", "", Applied(configuration)), func() error { return c.Apply(ctx, configuration, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			l.world.watchDelete(object, (&client.DeleteOptions{}).ApplyOptions(options))
			return l.call(of("delete", "", object), func() error { return c.Delete(ctx, object, options...) })
		},
		DeleteAllOf: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteAllOfOption) error {
			l.world.Breaks("%T: all objects of a kind are deleted without a precondition", object)
			return l.call(of("deleteAllOf", "", object), func() error { return c.DeleteAllOf(ctx, object, options...) })
		},
	}
	l.subresources(&f)
	return f
}

func (l *life) subresources(f *interceptor.Funcs) {
	// SubResource stays nil: the client of a subresource then calls the five functions below.
	f.SubResourceGet = func(ctx context.Context, c client.Client, sub string, object, body client.Object,
		options ...client.SubResourceGetOption) error {
		return l.call(of("get", "/"+sub, object), func() error { return c.SubResource(sub).Get(ctx, object, body, options...) })
	}
	f.SubResourceCreate = func(ctx context.Context, c client.Client, sub string, object, body client.Object,
		options ...client.SubResourceCreateOption) error {
		return l.call(of("create", "/"+sub, object), func() error { return c.SubResource(sub).Create(ctx, object, body, options...) })
	}
	f.SubResourceUpdate = func(ctx context.Context, c client.Client, sub string, object client.Object,
		options ...client.SubResourceUpdateOption) error {
		return l.call(of("update", "/"+sub, object), func() error { return c.SubResource(sub).Update(ctx, object, options...) })
	}
	f.SubResourcePatch = func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch,
		options ...client.SubResourcePatchOption) error {
		return l.call(of("patch", "/"+sub, object), func() error { return c.SubResource(sub).Patch(ctx, object, patch, options...) })
	}
	f.SubResourceApply = func(ctx context.Context, c client.Client, sub string, configuration kruntime.ApplyConfiguration,
		options ...client.SubResourceApplyOption) error {
		return l.call(of("apply", "/"+sub, Applied(configuration)),
			func() error { return c.SubResource(sub).Apply(ctx, configuration, options...) })
	}
}
