/*
SPDX-License-Identifier: Apache-2.0
*/

package store

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clientgoapplyconfigurations "k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// scheme and the field managers are shared by all worlds, because creating them takes longer than a world.
var (
	// Scheme has all kinds of Kubernetes and of the operator.
	Scheme     = newScheme()
	converter  = clientgoapplyconfigurations.NewTypeConverter(Scheme)
	deduced    = managedfields.NewDeducedTypeConverter()
	managersOf sync.Map // schema.GroupVersionKind -> *managedfields.FieldManager
)

func newScheme() *runtime.Scheme {
	all := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, dbv1.AddToScheme} {
		if err := add(all); err != nil {
			panic(err)
		}
	}
	return all
}

func managerOf[T any](options []T, of func(T) string) string {
	if len(options) == 0 {
		return ""
	}
	return of(options[0])
}

// noDefaults is the defaulter of a store without defaults.
type noDefaults struct{}

// Default does nothing.
func (noDefaults) Default(runtime.Object) {}

func fieldManager(kind schema.GroupVersionKind) (*managedfields.FieldManager, error) {
	if known, ok := managersOf.Load(kind); ok {
		return known.(*managedfields.FieldManager), nil
	}
	types := converter
	if kind.GroupVersion() == dbv1.GroupVersion {
		types = deduced
	}
	made, err := managedfields.NewDefaultFieldManager(types, Scheme, noDefaults{}, Scheme, kind, kind.GroupVersion(), "", nil)
	if err != nil {
		return nil, fmt.Errorf("field manager of %s: %w", kind, err)
	}
	known, _ := managersOf.LoadOrStore(kind, made)
	return known.(*managedfields.FieldManager), nil
}

// manage records the field manager of each changed field.
func (s *Store) manage(before client.Object, after runtime.Object, manager string) (runtime.Object, error) {
	kind := s.kind(after.(client.Object))
	fields, err := fieldManager(kind)
	if err != nil {
		return nil, err
	}
	after.GetObjectKind().SetGroupVersionKind(kind)
	live, err := s.live(kind, before)
	if err != nil {
		return nil, err
	}
	managed, err := fields.Update(live, after.DeepCopyObject(), manager)
	if err != nil {
		return nil, fmt.Errorf("record the fields of %s: %w", kind.Kind, err)
	}
	return managed, nil
}

// manageApply is server-side apply.
func (s *Store) manageApply(before client.Object, configuration runtime.Object, manager string, force bool) (runtime.Object, error) {
	kind := configuration.GetObjectKind().GroupVersionKind()
	fields, err := fieldManager(kind)
	if err != nil {
		return nil, err
	}
	live, err := s.live(kind, before)
	if err != nil {
		return nil, err
	}
	return fields.Apply(live, configuration, manager, force) // its conflicts are errors of the API server already
}

func (s *Store) live(kind schema.GroupVersionKind, before client.Object) (runtime.Object, error) {
	if before != nil {
		return before.DeepCopyObject(), nil
	}
	empty, err := s.scheme.New(kind)
	if err != nil {
		return nil, fmt.Errorf("create a %s: %w", kind.Kind, err)
	}
	empty.GetObjectKind().SetGroupVersionKind(kind)
	return empty, nil
}
