/*
SPDX-License-Identifier: Apache-2.0
*/

// Package fakeclient builds fake clients quickly. Left to itself, each of them registers all kinds of Kubernetes again,
// which takes longer than most tests do.
package fakeclient

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// converters are those that a fake client has by default.
var converters = sync.OnceValue(func() []managedfields.TypeConverter {
	return []managedfields.TypeConverter{applyconfigurations.NewTypeConverter(clientgoscheme.Scheme), managedfields.NewDeducedTypeConverter()}
})

// For is a builder of a fake client that knows the kinds of a scheme.
func For(scheme *runtime.Scheme) *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(converters()...)
}
