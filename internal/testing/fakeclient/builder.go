/*
SPDX-License-Identifier: Apache-2.0
*/

// Package fakeclient builds fake clients quickly. By default each fake client registers all Kubernetes types again,
// which takes longer than most tests.
package fakeclient

import (
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// converters are the default type converters of a fake client.
var converters = sync.OnceValue(func() []managedfields.TypeConverter {
	return []managedfields.TypeConverter{withoutStatus{applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)},
		managedfields.NewDeducedTypeConverter()}
})

// withoutStatus also converts objects of kinds without a status. The fake client adds an empty one to each applied
// object, which the schema of such a kind does not allow.
type withoutStatus struct{ managedfields.TypeConverter }

// ObjectToTyped converts an object.
func (c withoutStatus) ObjectToTyped(object runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	value, err := c.TypeConverter.ObjectToTyped(object, options...)
	applied, ok := object.(*unstructured.Unstructured)
	if err == nil || !ok {
		return value, err
	}
	bare := applied.DeepCopy()
	delete(bare.Object, "status")
	return c.TypeConverter.ObjectToTyped(bare, options...)
}

// For returns a builder of a fake client for a scheme.
func For(scheme *runtime.Scheme) *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(converters()...)
}
