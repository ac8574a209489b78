/*
SPDX-License-Identifier: Apache-2.0
*/

package apply_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/dbcluster/databasecluster-operator/internal/apply"
)

func TestAnAnnotationIsSetAfterAControllerHasWrittenTheStatus(t *testing.T) {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", UID: "set"}}
	api := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(set).WithStatusSubresource(set).Build()
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"})
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(set), stored); err != nil {
		t.Fatal(err)
	}
	now := &appsv1.StatefulSet{}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(set), now); err != nil {
		t.Fatal(err)
	}
	now.Status.Replicas = 3
	if err := api.Status().Update(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	if err := (apply.Writer{Client: api}).Annotate(t.Context(), stored, "hash", "1"); err != nil {
		t.Error(err)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(set), now); err != nil || now.Annotations["hash"] != "1" || now.Status.Replicas != 3 {
		t.Errorf("%v: the annotations are %v, the status is %+v", err, now.Annotations, now.Status)
	}
}
