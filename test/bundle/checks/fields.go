/*
SPDX-License-Identifier: Apache-2.0
*/

package checks

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	dbv1 "github.com/dbcluster/databasecluster-operator/api/v1alpha1"
)

// kinds are the Go types of the API kinds.
var kinds = func() map[string]reflect.Type {
	scheme := runtime.NewScheme()
	utilruntime.Must(dbv1.AddToScheme(scheme))
	return scheme.KnownTypes(dbv1.GroupVersion)
}()

// Fields returns the paths of all fields in the spec or status of a kind, in the notation of descriptors: storage.size,
// or schedules[0].cron for an item of a list. It does not descend into Kubernetes types.
func Fields(kind, part string) []string {
	of, known := kinds[kind]
	if !known {
		return nil
	}
	for field := range of.Fields() {
		if jsonName(field) == part {
			return fieldsBelow("", field.Type)
		}
	}
	return nil
}

func fieldsBelow(path string, of reflect.Type) []string {
	var paths []string
	for field := range of.Fields() {
		if field.Anonymous {
			paths = append(paths, fieldsBelow(path, field.Type)...)
			continue
		}
		at := path + jsonName(field)
		paths = append(paths, at)
		inner := field.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			if inner.Kind() == reflect.Slice {
				at += "[0]"
			}
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.PkgPath() == of.PkgPath() {
			paths = append(paths, fieldsBelow(at+".", inner)...)
		}
	}
	return paths
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}
