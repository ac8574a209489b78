/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// server is a store that counts its writes and can fail its calls.
type server struct {
	client.WithWatch
	reads  func(object client.Object) error
	writes func(what string) error
	makes  func(object client.Object) error // of DatabaseBackups
	sent   []string
}

func newServer(t *testing.T, objects ...client.Object) *server {
	t.Helper()
	s := &server{
		reads:  func(client.Object) error { return nil },
		writes: func(string) error { return nil },
		makes:  func(client.Object) error { return nil },
	}
	store := fakeclient.For(testScheme(t)).WithStatusSubresource(&dbv1.DatabaseCluster{}, &dbv1.DatabaseBackup{}).WithObjects(objects...).Build()
	s.WithWatch = interceptor.NewClient(store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := s.reads(object); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if object.GetObjectKind().GroupVersionKind().Kind == "DatabaseBackup" {
				if err := s.makes(object); err != nil {
					return err
				}
			}
			object.SetUID(types.UID("uid of " + object.GetName())) // as an API server does
			object.SetGeneration(1)
			return s.write("create "+object.GetObjectKind().GroupVersionKind().Kind+" "+object.GetName(), func() error { return c.Create(ctx, object, options...) })
		},
		Apply: func(ctx context.Context, c client.WithWatch, configuration runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			object := configuration.(interface {
				GetKind() string
				GetName() string
			})
			return s.write("apply "+object.GetKind()+" "+object.GetName(), func() error { return c.Apply(ctx, configuration, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return s.write("patch "+object.GetName(), func() error { return c.Patch(ctx, object, patch, options...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			return s.write("patch "+sub+" of "+object.GetName(), func() error { return c.SubResource(sub).Patch(ctx, object, patch, options...) })
		},
	})
	return s
}

func (s *server) write(what string, call func() error) error {
	s.sent = append(s.sent, what)
	if err := s.writes(what); err != nil {
		return err
	}
	return call()
}

// writesStatefulSet reports whether a request creates or changes the StatefulSet.
func writesStatefulSet(sent string) bool { return strings.HasSuffix(sent, " StatefulSet orders") }

// pass runs one pass for the cluster "orders".
func (s *server) pass(t *testing.T) (ctrl.Result, error) {
	t.Helper()
	s.sent = nil
	r := &Reconciler{Base: kit.Base{
		Cached: s, Live: s, Writer: apply.Writer{Client: s, Live: s},
		Events: events.NewFakeRecorder(100), Clock: clocktesting.NewFakePassiveClock(moment.Time),
	}}
	return r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "orders"}})
}

func (s *server) condition(t *testing.T, kind string) string {
	t.Helper()
	cluster := &dbv1.DatabaseCluster{}
	if err := s.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "orders"}, cluster); err != nil {
		t.Fatal(err)
	}
	c := meta.FindStatusCondition(cluster.Status.Conditions, kind)
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func running() *dbv1.DatabaseCluster {
	c := deleted()
	c.DeletionTimestamp, c.Finalizers, c.Spec.Service.Type = nil, nil, corev1.ServiceTypeClusterIP
	return c
}

func TestTheFirstPassAddsTheFinalizerAndThenCreatesTheObjects(t *testing.T) {
	s := newServer(t, running())
	if _, err := s.pass(t); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"patch orders", "create NetworkPolicy orders", "create Service orders-headless", "create Service orders", "create PodDisruptionBudget orders",
		"create StatefulSet orders", "patch status of orders",
	}
	if !slices.Equal(s.sent, want) {
		t.Errorf("sent %q", s.sent)
	}
}

func TestAPassThatCannotReadWritesAndReportsNothing(t *testing.T) {
	s := newServer(t, running())
	if _, err := s.pass(t); err != nil {
		t.Fatal(err)
	}
	before := s.condition(t, dbv1.ConditionAvailable)
	s.reads = func(object client.Object) error {
		if _, ok := object.(*appsv1.StatefulSet); ok {
			return errors.New("connection refused")
		}
		return nil
	}
	if _, err := s.pass(t); err == nil || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v", err)
	}
	if len(s.sent) > 0 || s.condition(t, dbv1.ConditionAvailable) != before {
		t.Errorf("sent %q, Available went from %q to %q", s.sent, before, s.condition(t, dbv1.ConditionAvailable))
	}
}

func TestARejectedObjectDoesNotBlockTheOthers(t *testing.T) {
	s := newServer(t, running())
	s.writes = func(what string) error {
		if what == "create PodDisruptionBudget orders" {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "poddisruptionbudgets"}, "orders", errors.New("exceeded quota"))
		}
		return nil
	}
	if _, err := s.pass(t); err == nil {
		t.Error("no error: the write would not be retried")
	}
	if !slices.Contains(s.sent, "create StatefulSet orders") {
		t.Errorf("sent %q", s.sent)
	}
	if got := s.condition(t, dbv1.ConditionStalled); !strings.HasPrefix(got, "True Refused: create PodDisruptionBudget orders") || !strings.Contains(got, "exceeded quota") {
		t.Error(got)
	}
}

func TestAConflictIsNoErrorAndRequeues(t *testing.T) {
	for _, at := range []string{"patch orders", "create Service orders", "patch status of orders"} {
		t.Run(at, func(t *testing.T) {
			s := newServer(t, running())
			s.writes = func(what string) error {
				if what == at {
					return apierrors.NewConflict(schema.GroupResource{}, "orders", errors.New("changed meanwhile"))
				}
				return nil
			}
			result, err := s.pass(t)
			if err != nil || result.RequeueAfter != kit.ConflictDelay {
				t.Errorf("%+v, %v", result, err)
			}
			if got := s.condition(t, dbv1.ConditionReady); got != "none" {
				t.Errorf("it was reported: %s", got)
			}
		})
	}
}

func TestADeletedClusterIsIgnored(t *testing.T) {
	s := newServer(t)
	if result, err := s.pass(t); err != nil || result != (ctrl.Result{}) || len(s.sent) > 0 {
		t.Errorf("%+v, %v, sent %q", result, err, s.sent)
	}
}

func TestAHookThatCannotStartReportsHowToSkipIt(t *testing.T) {
	s := newServer(t, deleted())
	s.writes = func(what string) error {
		if strings.HasPrefix(what, "create Job") {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "x", errors.New("the namespace is being terminated"))
		}
		return nil
	}
	if _, err := s.pass(t); err == nil {
		t.Error("no error: the write would not be retried")
	}
	got := s.condition(t, dbv1.ConditionDeletionBlocked)
	if !strings.HasPrefix(got, "True DeletionError") || !strings.Contains(got, "being terminated") || !strings.Contains(got, dbv1.AnnotationSkipDeletionHooks+"=true") {
		t.Error(got)
	}
}
