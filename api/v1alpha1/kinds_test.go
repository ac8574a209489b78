/*
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/dbcluster/databasecluster-operator/config/crd"
)

// kind is an API kind.
type kind struct {
	of         reflect.Type
	definition apiextensionsv1.CustomResourceDefinition
}

// kinds are the CRDs with the Go types that this package registers for them.
func kinds(t *testing.T) []kind {
	t.Helper()
	definitions, err := crd.Definitions()
	if err != nil {
		t.Fatal(err)
	}
	types := registered(t)
	all := make([]kind, len(definitions))
	for i, definition := range definitions {
		all[i] = kind{types[definition.Spec.Names.Kind], definition}
		if all[i].of == nil {
			t.Fatalf("addKnownTypes does not register %s", definition.Spec.Names.Kind)
		}
	}
	return all
}

// registered are the Go types of this package that a scheme knows, by their kind.
func registered(t *testing.T) map[string]reflect.Type {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	all := scheme.KnownTypes(GroupVersion)
	for name, of := range all {
		if of.PkgPath() != reflect.TypeFor[DatabaseCluster]().PkgPath() { // such as WatchEvent
			delete(all, name)
		}
	}
	return all
}

func TestEveryRegisteredTypeIsAKindOrItsList(t *testing.T) {
	types := registered(t)
	for _, k := range kinds(t) {
		names := k.definition.Spec.Names
		if types[names.ListKind] == nil {
			t.Errorf("addKnownTypes does not register %s", names.ListKind)
		}
		delete(types, names.Kind)
		delete(types, names.ListKind)
	}
	for name := range types {
		t.Errorf("%s has no CRD: run make manifests", name)
	}
}

// Users ask kubectl for each kind in the same way.
func TestEveryKindHasAShortNameCategoriesAndItsAge(t *testing.T) {
	for _, k := range kinds(t) {
		names, version := k.definition.Spec.Names, k.definition.Spec.Versions[0]
		if len(names.ShortNames) != 1 || !strings.HasPrefix(names.ShortNames[0], "db") || len(names.ShortNames[0]) != 3 {
			t.Errorf("%s has the short names %v, want one of three letters that starts with db", names.Kind, names.ShortNames)
		}
		want := []string{"all", "dbcluster"}
		if k.definition.Spec.Scope == apiextensionsv1.ClusterScoped {
			want = []string{"dbcluster"}
		}
		if !slices.Equal(names.Categories, want) {
			t.Errorf("%s has the categories %v, want %v", names.Kind, names.Categories, want)
		}
		age := func(c apiextensionsv1.CustomResourceColumnDefinition) bool { return c.Name == "Age" && c.Priority == 0 }
		if len(version.AdditionalPrinterColumns) < 2 || !slices.ContainsFunc(version.AdditionalPrinterColumns, age) {
			t.Errorf("%s has the columns %v, want its state and its age", names.Kind, version.AdditionalPrinterColumns)
		}
	}
}
