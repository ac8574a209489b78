/*
SPDX-License-Identifier: Apache-2.0
*/

package apply_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/dbcluster/databasecluster-operator/internal/apply"
	"github.com/dbcluster/databasecluster-operator/internal/testing/fakeclient"
)

func TestAnUpdateOfADeletedObjectIsAConflict(t *testing.T) {
	server, object := fakeclient.For(clientgoscheme.Scheme).Build(), &unstructured.Unstructured{}
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	object.SetNamespace("shop")
	object.SetName("orders")
	if _, err := (apply.Writer{Client: server, Live: server}).Update(t.Context(), object, "uid", "7"); !apierrors.IsConflict(err) {
		t.Error(err)
	}
}
