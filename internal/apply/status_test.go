/*
SPDX-License-Identifier: Apache-2.0
*/

package apply_test

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

func TestThePatchOfAStatusHasOnlyItsChangesAndTheVersion(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := dbv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	stored := &dbv1.DatabaseCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "orders", Labels: map[string]string{"team": "a"}}}
	stored.Spec.Image, stored.Status.Selector, stored.Status.ReadyReplicas = "database:1", "a=b", 2
	var sent string
	server := interceptor.NewClient(fakeclient.For(scheme).WithObjects(stored).WithStatusSubresource(stored).Build(), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, s client.Client, sub string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			text, err := patch.Data(object)
			sent = string(text)
			if err != nil {
				return err
			}
			return s.SubResource(sub).Patch(ctx, object, patch, options...)
		},
	})
	before := &dbv1.DatabaseCluster{}
	if err := server.Get(t.Context(), client.ObjectKeyFromObject(stored), before); err != nil {
		t.Fatal(err)
	}
	after := before.DeepCopy()
	after.Status.ReadyReplicas, after.Status.Selector = 3, ""
	writer := apply.Writer{Client: server}
	if err := writer.ChangeStatus(t.Context(), before, after); err != nil {
		t.Fatal(err)
	}
	want := `{"metadata":{"resourceVersion":"` + before.ResourceVersion + `"},"status":{"readyReplicas":3,"selector":null}}`
	if sent != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	if after.Spec.Image != "database:1" || after.Status.ReadyReplicas != 3 || after.ResourceVersion == before.ResourceVersion {
		t.Errorf("the caller gets %+v instead of the stored object", after)
	}
	after.ResourceVersion = before.ResourceVersion
	if err := writer.ChangeStatus(t.Context(), before, after); !apierrors.IsConflict(err) {
		t.Errorf("a write of an old version: %v, want a conflict", err)
	}
}
