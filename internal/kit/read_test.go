/*
SPDX-License-Identifier: Apache-2.0
*/

package kit

import (
	"context"
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// Only an answer that names the object shows that it is absent.
func TestAKindThatTheAPIServerDoesNotKnowHasNoAbsentObjects(t *testing.T) {
	monitors := schema.GroupResource{Group: "monitoring.coreos.com", Resource: "podmonitors"}
	for name, c := range map[string]struct {
		err    error
		noKind bool
		fails  bool
	}{
		"the object is absent":        {apierrors.NewNotFound(monitors, "orders"), false, false},
		"the kind was never there":    {&meta.NoKindMatchError{}, true, true},
		"the CRD was deleted":         {apierrors.NewGenericServerResponse(http.StatusNotFound, "GET", monitors, "orders", "404 page not found", 0, true), true, true},
		"the API server does not run": {apierrors.NewInternalError(context.DeadlineExceeded), false, true},
		"it is there":                 {nil, false, false},
	} {
		api := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				return c.err
			},
		}).Build()
		found, err := View{Reader: api}.Find(t.Context(), client.ObjectKey{Name: "orders"}, &corev1.Pod{})
		if NoKind(err) != c.noKind || (err != nil) != c.fails || found != (c.err == nil) {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
	}
}
