/*
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/kit"
	"github.com/dbcluster/databasecluster-operator/internal/naming"
)

// labeled is a cache: it has only objects with the operator's label, and clusters.
type labeled struct{ client.WithWatch }

func (l labeled) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if err := l.WithWatch.Get(ctx, key, o, opts...); err != nil {
		return err
	}
	if _, is := o.(*dbv1.DatabaseCluster); is || o.GetLabels()[dbv1.LabelManagedBy] == dbv1.LabelManagedByValue {
		return nil
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func TestNoMembersAreCreatedBehindTheHeadlessServiceOfAnotherOwner(t *testing.T) {
	cluster := running()
	cluster.Finalizers, cluster.Status = nil, dbv1.DatabaseClusterStatus{}
	foreign := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: naming.HeadlessService("orders")}}
	s := newServer(t, cluster, foreign)
	for range 3 {
		s.sent = nil
		r := &Reconciler{Base: kit.Base{
			Cached: labeled{s.WithWatch}, Live: s, Writer: apply.Writer{Client: s, Live: s},
			Events: events.NewFakeRecorder(100), Clock: clocktesting.NewFakePassiveClock(moment.Time),
		}}
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "shop", Name: "orders"}})
		if slices.ContainsFunc(s.sent, writesStatefulSet) {
			t.Errorf("the operator sent %v: %v", s.sent, err)
		}
	}
}
