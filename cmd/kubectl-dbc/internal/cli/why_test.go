/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/cmd/kubectl-dbc/internal/why"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

// shop is a namespace with a healthy cluster, in which the user may not list some kinds.
func shop(t *testing.T, forbidden []client.ObjectList, objects ...client.Object) *target {
	t.Helper()
	known, err := scheme()
	if err != nil {
		t.Fatal(err)
	}
	orders := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders"}}
	orders.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionReady, Status: metav1.ConditionTrue, Reason: dbv1.ReasonReady, Message: "3 of 3"}}
	store := fakeclient.For(known).WithObjects(append(objects, orders)...).Build()
	return &target{namespace: "shop", Client: interceptor.NewClient(store, interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if slices.ContainsFunc(forbidden, func(f client.ObjectList) bool { return isSame(t, c, f, list) }) {
				return apierrors.NewForbidden(schema.GroupResource{Group: dbv1.GroupVersion.Group, Resource: "them"}, "", nil)
			}
			return c.List(ctx, list, options...)
		},
	})}
}

func isSame(t *testing.T, c client.Client, a, b client.ObjectList) bool {
	t.Helper()
	one, err := c.GroupVersionKindFor(a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := c.GroupVersionKindFor(b)
	return err == nil && one == other
}

// user is a DatabaseUser of orders that needs attention.
func user() *dbv1.DatabaseUser {
	u := &dbv1.DatabaseUser{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "billing"}}
	u.Spec.ClusterRef.Name = "orders"
	u.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionStalled, Status: metav1.ConditionTrue, Reason: dbv1.ReasonPasswordMissing, Message: "no Secret"}}
	return u
}

func TestAKindThatYouMayNotListMakesTheStateUnknown(t *testing.T) {
	databases, users := &dbv1.DatabaseList{}, &dbv1.DatabaseUserList{}
	for name, c := range map[string]struct {
		target  *target
		verdict why.Verdict
		want    string
	}{
		"everything is readable": {shop(t, nil), why.Healthy, "Ready is True"},
		"databases are not":      {shop(t, []client.ObjectList{databases}), why.Unknown, "DatabaseCluster orders itself needs no attention. The state of its databases is unknown"},
		"both are not":           {shop(t, []client.ObjectList{databases, users}, user()), why.Unknown, "The state of its databases, databaseusers is unknown"},
		"a user has the cause":   {shop(t, []client.ObjectList{databases}, user()), why.Unhealthy, "DatabaseUser billing: Stalled is True (PasswordMissing)"},
	} {
		s, _, errOut := offline(t)
		got, err := s.explainNow(t.Context(), c.target, "orders")
		if err != nil || got.verdict != c.verdict || !strings.Contains(got.cause.Sentence(), c.want) {
			t.Errorf("%s: got %d, %q, %v", name, got.verdict, got.cause.Sentence(), err)
		}
		if (c.verdict == why.Healthy) != (errOut.Len() == 0) {
			t.Errorf("%s: the notes are %q", name, errOut)
		}
	}
}

func TestUsersAreListedAlthoughDatabasesAreForbidden(t *testing.T) {
	s, _, errOut := offline(t)
	all, databasesErr, usersErr := shop(t, []client.ObjectList{&dbv1.DatabaseList{}}, user()).declared(t.Context())
	if err := s.listed(databasesErr, usersErr); err != nil || len(all.Users) != 1 || !strings.Contains(errOut.String(), "You may not list databases") {
		t.Errorf("got %v, %d users, %q", err, len(all.Users), errOut)
	}
	_, databasesErr, usersErr = shop(t, []client.ObjectList{&dbv1.DatabaseList{}, &dbv1.DatabaseUserList{}}).declared(t.Context())
	if err := s.listed(databasesErr, usersErr); !apierrors.IsForbidden(err) {
		t.Errorf("got %v", err)
	}
}

// A hibernated cluster is the cause, also if the user asks about the object that waits for it.
func TestAnObjectIsExplainedByItsCluster(t *testing.T) {
	waits := user()
	waits.Status.Conditions = []metav1.Condition{{Type: dbv1.ConditionReady, Status: metav1.ConditionFalse, Reason: dbv1.ReasonObjectPending, Message: "it waits"}}
	of := shop(t, nil, waits)
	cluster, err := of.cluster(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	cluster.Status.Conditions = append(cluster.Status.Conditions, metav1.Condition{Type: dbv1.ConditionHibernated, Status: metav1.ConditionTrue, Reason: dbv1.ReasonHibernated})
	if err := of.Update(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	s, _, _ := offline(t)
	for _, name := range []string{"orders", "databaseuser/billing"} {
		got, err := s.explainNow(t.Context(), of, name)
		if err != nil || got.verdict != why.Unhealthy || got.cause.Reason != dbv1.ReasonHibernated || got.cause.Command != "kubectl dbc -n shop wake orders" {
			t.Errorf("%s: got %d, %q, %v", name, got.verdict, got.cause.Sentence(), err)
		}
	}
}

func TestAnOldLeaseOfTheOperatorMakesTheStateUnknown(t *testing.T) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "system", Name: why.LeaseName}}
	lease.Spec.RenewTime = new(metav1.NewMicroTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	s, _, _ := offline(t)
	for namespace, want := range map[string]why.Verdict{"system": why.Unknown, "other": why.Healthy} {
		verdict, cause, err := s.explain(t.Context(), shop(t, nil, lease.DeepCopy()), "orders", namespace)
		if err != nil || verdict != want || strings.Contains(cause.Sentence(), "the operator does not run") != (want == why.Unknown) {
			t.Errorf("in namespace %s: got %d, %q, %v", namespace, verdict, cause.Sentence(), err)
		}
	}
}

func TestTheUsersOfAClusterAreCompleted(t *testing.T) {
	other := user()
	other.Name, other.Spec.ClusterRef.Name = "reporting", "sales"
	of := shop(t, []client.ObjectList{&dbv1.DatabaseList{}}, user(), other)
	for cluster, want := range map[string][]string{"orders": {"billing"}, "sales": {"reporting"}, "": {"billing", "reporting"}, "none": nil} {
		if names, err := of.userNames(t.Context(), cluster); err != nil || !slices.Equal(names, want) {
			t.Errorf("%q: got %v, %v", cluster, names, err)
		}
	}
	s, _, _ := offline(t)
	if _, found := s.connect().GetFlagCompletionFunc("user"); !found {
		t.Error("--user has no completion")
	}
}
