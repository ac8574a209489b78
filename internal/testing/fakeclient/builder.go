/*
SPDX-License-Identifier: Apache-2.0
*/

// Package fakeclient builds fake clients quickly. By default each fake client registers all Kubernetes types again,
// which takes longer than most tests.
package fakeclient

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// converters are the default type converters of a fake client.
var converters = sync.OnceValue(func() []managedfields.TypeConverter {
	return []managedfields.TypeConverter{applyconfigurations.NewTypeConverter(clientgoscheme.Scheme), managedfields.NewDeducedTypeConverter()}
})

// For returns a builder of a fake client for a scheme.
func For(scheme *runtime.Scheme) *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(converters()...)
}
