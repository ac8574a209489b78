/*
SPDX-License-Identifier: Apache-2.0
*/

package cli

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// inPages sends three pods, one in each page. With expired, the second page is too old.
func inPages(expired bool) interceptor.Funcs {
	return interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		asked := (&client.ListOptions{}).ApplyOptions(options)
		at := map[string]int{"": 0, "1": 1, "2": 2}[asked.Continue]
		names := []string{fmt.Sprintf("orders-%d", at)}
		switch {
		case asked.Limit == 0:
			names, at = []string{"orders-0", "orders-1", "orders-2"}, 2
		case expired && at > 0:
			return apierrors.NewResourceExpired("too old")
		}
		if at < 2 {
			list.SetContinue(fmt.Sprint(at + 1))
		}
		for _, name := range names {
			switch list := list.(type) {
			case *corev1.PodList:
				list.Items = append(list.Items, corev1.Pod{ObjectMeta: named(name, nil)})
			case *unstructured.UnstructuredList:
				item := unstructured.Unstructured{Object: map[string]any{}}
				item.SetName(name)
				list.Items = append(list.Items, item)
			}
		}
		return nil
	}}
}

func TestAListIsReadInPages(t *testing.T) {
	for name, expired := range map[string]bool{"all pages": false, "a page is too old": true} {
		t.Run(name, func(t *testing.T) {
			of, list := targetOf(t, inPages(expired)), &corev1.PodList{}
			if err := of.List(t.Context(), list); err != nil || len(list.Items) != 3 || list.Items[0].Name != "orders-0" || list.Items[2].Name != "orders-2" {
				t.Errorf("got %v, %v", list.Items, err)
			}
			loose := &unstructured.UnstructuredList{}
			loose.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("PodList"))
			if err := of.List(t.Context(), loose); err != nil || len(loose.Items) != 3 || loose.Items[1].GetName() != "orders-1" {
				t.Errorf("got %v, %v", loose.Items, err)
			}
		})
	}
}

// An older operator has no DatabaseRestores, Databases and DatabaseUsers, so a cluster has none.
func TestTheStatusNeedsNoNewerKind(t *testing.T) {
	of := targetOf(t, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		switch list.(type) {
		case *dbv1.DatabaseRestoreList, *dbv1.DatabaseList, *dbv1.DatabaseUserList:
			return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: dbv1.GroupVersion.Group, Kind: "Newer"}}
		}
		return c.List(ctx, list, options...)
	}})
	facts, err := of.facts(t.Context(), &dbv1.DatabaseCluster{ObjectMeta: named("orders", nil)}, time.Now())
	if err != nil || len(facts.Missing) != 0 || len(facts.Objects) != 0 {
		t.Errorf("got %v, %v", facts.Missing, err)
	}
}

func TestTheStatusHasTheObjectsOfItsClusterOnly(t *testing.T) {
	other := user()
	other.Name, other.Spec.ClusterRef.Name = "reporting", "sales"
	of := shop(t, []client.ObjectList{&dbv1.DatabaseList{}}, user(), other)
	facts, err := of.facts(t.Context(), &dbv1.DatabaseCluster{ObjectMeta: named("orders", nil)}, time.Now())
	if err != nil || len(facts.Objects) != 1 || facts.Objects[0].Name != "billing" || !slices.Equal(facts.Missing, []string{"databases"}) {
		t.Errorf("got %+v, %v, %v", facts.Objects, facts.Missing, err)
	}
}
